#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension JournalStatus {
  /// When the oldest transaction of a store was written that is kept; nil when there is none. Other
  /// programs' changes have no time.
  public var oldestTime: Date? { oldestMicroseconds.map { Date(microseconds: $0) } }
}

extension ConsumerStatus {
  /// When the consumer acknowledged last; nil when it has not yet.
  public var acknowledgedAt: Date? { acknowledgedMicroseconds.map { Date(microseconds: $0) } }
}

extension Date {
  fileprivate init(microseconds: Int64) {
    self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }
}
