#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension JournalTransaction {
  /// ``time`` as a date; nil for changes of other programs.
  public var date: Date? {
    time.map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
  }
}

extension JournalFilter {
  /// Sets ``time`` from dates.
  public mutating func limit(to dates: Range<Date>) {
    func microseconds(_ date: Date) -> Int64 {
      let time = (date.timeIntervalSince1970 * 1_000_000).rounded(.down)
      return Int64(exactly: time) ?? (time < 0 ? .min : .max)
    }
    time = microseconds(dates.lowerBound)..<microseconds(dates.upperBound)
  }
}
