#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The message and all broken rules as `localizedDescription`. It is English, and names models,
/// fields and rules, which a program's users may not know. For a form, use ``Violation/message`` of
/// ``violations``.
extension StoreError: LocalizedError {
  /// The message, and the broken rules that it does not name.
  public var errorDescription: String? { explanation }
}
