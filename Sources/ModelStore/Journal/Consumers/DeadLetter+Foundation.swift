#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension DeadLetter {
  /// When the worker gave up.
  public var failureDate: Date { Date(timeIntervalSince1970: Double(failedAt) / 1_000_000) }
}
