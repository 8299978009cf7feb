#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The message as `localizedDescription`. It is English, and names models, fields and rules, which
/// a program's users may not know: for a form, use ``Violation/message`` of ``violations``.
extension StoreError: LocalizedError {
  /// The message.
  public var errorDescription: String? { message }
}
