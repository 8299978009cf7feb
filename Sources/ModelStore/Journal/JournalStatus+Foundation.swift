#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension JournalStatus {
  /// The time of the oldest entry as a date; nil for an empty journal.
  public var oldestDate: Date? { oldestTime.map { Date(microseconds: $0) } }
}

extension ConsumerStatus {
  /// The time of the last acknowledgement as a date; nil before the first.
  public var acknowledgementDate: Date? { acknowledgementTime.map { Date(microseconds: $0) } }
}

extension Date {
  fileprivate init(microseconds: Int64) {
    self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }
}
