#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension JournalStatus {
  /// ``oldestTime`` as a date.
  public var oldestDate: Date? { oldestTime.map { Date(microseconds: $0) } }
}

extension ConsumerStatus {
  /// ``acknowledgementTime`` as a date.
  public var acknowledgementDate: Date? { acknowledgementTime.map { Date(microseconds: $0) } }
}

extension Date {
  fileprivate init(microseconds: Int64) {
    self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }
}
