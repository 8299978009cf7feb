#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Reads a condition or an order from text: SQL's expressions over one model's fields, as a closed
/// grammar. It never passes text on to SQLite; for that use ``StoreQuery/Predicate/sql(_:)``.
///
/// ```
/// done == false && due < today
/// title like 'So%' or genre in ('Rock', 'Jazz') and not composer is null
/// ```
/// | Form | Meaning |
/// |---|---|
/// | `=` `==` `!=` `<>` `<` `<=` `>` `>=` | comparison; `== null` and `!= null` ask about NULL |
/// | `is`, `is not` | comparison where NULL is a value like others |
/// | `[not] in (…)`, `[not] between … and …` | a list, a range with both ends |
/// | `[not] like '…'`, `[not] glob '…'` | patterns |
/// | `and` `&&`, `or` `\|\|`, `not` `!`, `( )` | `not` binds weaker than comparisons, as in SQL |
/// | `12`, `1.5`, `'it''s'`, `x'0aff'`, `true`, `false`, `null` | literals |
/// | `today`, `now` | the beginning of the UTC day, the moment |
/// | `name`, `"name"` | a field; a boolean field alone is a condition |
///
/// Keywords may be written in any case. A literal is read by the type of the field beside it, as
/// ``FieldText`` does; one that does not fit is an error.
public struct PredicateParser: Sendable {
  /// The schema whose fields the text may name.
  package let schema: ModelSchema
  /// What `now` means, and `today` from it.
  package let now: Date

  /// A parser of predicates over one model.
  ///
  /// - Parameter now: The moment that relative times such as `today` count from.
  public init(schema: ModelSchema, now: Date) {
    self.schema = schema
    self.now = now
  }

  /// The longest text that is read, in UTF-8 bytes.
  package static let textLengthMax = 1_000_000
  /// The most literals in one text; SQLite takes no more arguments than that in one statement.
  package static let literalCountMax = 32_000
  /// The deepest nesting of parentheses and `not`. Where each level is a long chain of `and` and
  /// `or`, fewer are read: no more than SQLite takes, in whatever statement the condition stands.
  package static let depthMax = 25

  /// - Throws: ``PredicateTextError`` that points at the token which is wrong.
  package func condition(parsing text: String) throws(PredicateTextError) -> Condition {
    var reading = try PredicateReading(text, schema: schema, now: now)
    return try reading.wholeCondition()
  }

  /// Reads field names separated by commas, most significant first; `-` before a name means
  /// descending: `-due,title`.
  ///
  /// - Throws: ``PredicateTextError`` that points at the token which is wrong.
  package func orderings(parsing text: String) throws(PredicateTextError) -> [QueryOrdering] {
    var reading = try PredicateReading(text, schema: schema, now: now)
    return try reading.wholeOrder()
  }
}
