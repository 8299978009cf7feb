#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension JournalTransaction {
  /// The time of the commit; nil for changes of other programs.
  public var date: Date? {
    time.map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
  }
}

extension JournalFilter {
  /// Limits the filter to commits within these dates.
  public mutating func limit(to dates: Range<Date>) {
    func microseconds(_ date: Date) -> Int64 {
      let time = (date.timeIntervalSince1970 * 1_000_000).rounded(.down)
      return Int64(exactly: time) ?? (time < 0 ? .min : .max)
    }
    time = microseconds(dates.lowerBound)..<microseconds(dates.upperBound)
  }
}
