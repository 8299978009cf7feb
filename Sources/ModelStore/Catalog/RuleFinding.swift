/// A declarative rule that stored records break, with the number of records and the first keys.
///
/// Records can break an existing rule only if they were written with checks or foreign keys
/// disabled, or if the column's type does not enforce it. The rule that texts are UTF-8 is an
/// example: SQLite does not check it.
public struct RuleFinding: Hashable, Sendable {
  /// The rule, without a key.
  public let violation: Violation
  /// The number of records that break it.
  public let count: Int
  /// The keys of the first records that break it, in key order.
  public let keys: [[SQLValue]]
}
