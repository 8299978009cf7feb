/// A declarative rule that stored records break, how many, and the first of them.
///
/// Records can break a rule that was there before them only when they were written with checks or
/// foreign keys switched off, or by a program that SQLite's types do not bind. That texts are UTF-8
/// is such a rule, too: SQLite does not look at them.
public struct RuleFinding: Hashable, Sendable {
  /// The rule, without a key.
  public let violation: Violation
  /// How many records break it.
  public let count: Int
  /// The keys of the first records that break it, in key order.
  public let keys: [[SQLValue]]
}
