#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Reads a condition or an order from text. The language is a subset of SQL's expressions over one
/// model's fields. The text is never passed to SQLite; for that use
/// ``StoreQuery/Predicate/sql(_:)``.
///
/// ```
/// done == false && due < today
/// title like 'So%' or genre in ('Rock', 'Jazz') and not composer is null
/// ```
/// | Form | Meaning |
/// |---|---|
/// | `=` `==` `!=` `<>` `<` `<=` `>` `>=` | comparison; `== null` and `!= null` test for NULL |
/// | `is`, `is not` | comparison in which NULL is a value like others |
/// | `[not] in (…)`, `[not] between … and …` | a list, a range with both ends |
/// | `[not] like '…'`, `[not] glob '…'` | patterns |
/// | `and` `&&`, `or` `\|\|`, `not` `!`, `( )` | `not` binds weaker than comparisons, as in SQL |
/// | `12`, `1.5`, `'it''s'`, `x'0aff'`, `true`, `false`, `null` | literals |
/// | `today`, `now` | the beginning of the UTC day, the current moment |
/// | `name`, `"name"` | a field; a boolean field alone is a condition |
///
/// Keywords may be written in any case. A literal is read by the type of the field it is compared
/// with, as in the command line. A literal that does not fit is an error.
public struct PredicateParser: Sendable {
  /// The schema whose fields the text may name.
  package let schema: ModelSchema
  /// The value of `now`, from which `today` follows.
  package let now: Date

  /// Creates a parser of predicates over one model.
  ///
  /// - Parameter now: The moment for relative times such as `today`.
  public init(schema: ModelSchema, now: Date) {
    self.schema = schema
    self.now = now
  }

  /// The maximum length of a text, in UTF-8 bytes.
  package static let textLengthMax = 1_000_000
  /// The maximum number of literals in one text, which is SQLite's limit for arguments of a
  /// statement.
  package static let literalCountMax = 32_000
  /// The deepest nesting of parentheses and `not`. If each level is a long chain of `and` and `or`,
  /// the limit is lower, so that SQLite accepts the condition in any statement.
  package static let depthMax = 25

  /// - Throws: ``PredicateTextError`` that points at the wrong token.
  package func condition(parsing text: String) throws(PredicateTextError) -> Condition {
    var reading = try PredicateReading(text, schema: schema, now: now)
    return try reading.wholeCondition()
  }

  /// Reads field names separated by commas, most significant first; `-` before a name means
  /// descending: `-due,title`.
  ///
  /// - Throws: ``PredicateTextError`` that points at the wrong token.
  package func orderings(parsing text: String) throws(PredicateTextError) -> [QueryOrdering] {
    var reading = try PredicateReading(text, schema: schema, now: now)
    return try reading.wholeOrder()
  }
}
