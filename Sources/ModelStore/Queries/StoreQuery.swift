/// Which records, in which order, and which part of them, as a value. It holds no rows and no
/// connection: a transaction fetches it once, a live query keeps its result true.
///
/// For models it is built with key paths; for dynamic records from text,
/// which ``PredicateParser`` reads.
/// ```swift
/// let long = Track.where { $0.milliseconds > 300_000 && $0.title.like("So%") }
///   .order { $0.title.collate(.nocase) }
///   .limit(20)
/// ```
/// The result is always totally ordered: after the orderings given, the key decides, ascending.
/// Only a view without a key lacks that last step.
public struct StoreQuery<Element: Fetchable>: Hashable, Sendable {
  public let schema: ModelSchema
  /// What selected records meet, or nil for all records.
  package var condition: Condition?
  /// The order that was asked for; ``totalOrderings`` adds the key.
  package var orderings: [QueryOrdering]
  /// The most records in the result, at least 0; nil for all.
  public var limit: Int? {
    didSet { checkWindow() }
  }
  /// How many records of the ordered result are skipped, at least 0.
  public var offset: Int {
    didSet { checkWindow() }
  }

  /// - Precondition: `limit` and `offset` are not negative; field positions are `schema`'s.
  package init(
    _ schema: ModelSchema, where condition: Condition? = nil, orderings: [QueryOrdering] = [],
    limit: Int? = nil, offset: Int = 0
  ) {
    self.schema = schema
    self.condition = condition
    self.orderings = orderings
    self.limit = limit
    self.offset = offset
    checkWindow()
  }

  private func checkWindow() {
    if let limit { precondition(limit >= 0, "A query's limit must not be negative.") }
    precondition(offset >= 0, "A query's offset must not be negative.")
  }

  /// Whether the result is a part of all records that meet the condition.
  package var isWindow: Bool { limit != nil || offset > 0 }

  /// The records that also meet `condition`.
  package func filter(_ condition: Condition) -> Self {
    var query = self
    query.condition = self.condition.map { $0.and(condition) } ?? condition
    return query
  }

  /// The same records in another order, which replaces the present one.
  package func order(_ orderings: [QueryOrdering]) -> Self {
    var query = self
    query.orderings = orderings
    return query
  }

  /// At most `limit` records of the ordered result, after skipping `offset`.
  ///
  /// - Precondition: Neither is negative.
  public func limit(_ limit: Int?, offset: Int = 0) -> Self {
    var query = self
    query.limit = limit
    query.offset = offset
    return query
  }

  /// The orderings without repetitions, then the key's fields ascending: an order in which no two
  /// records are equal. SQLite leaves the order of ties to the plan it happens to choose.
  package var totalOrderings: [QueryOrdering] {
    var seen: Set<Term> = []
    var total: [QueryOrdering] = []
    for ordering in orderings {
      let collation = ordering.effectiveCollation(in: schema)
      if seen.insert(Term(field: ordering.fieldIndex, collation: collation)).inserted {
        total.append(ordering)
      }
    }
    for index in schema.keyIndices {
      // BINARY tells apart whatever another collation may call equal.
      if seen.insert(Term(field: index, collation: .binary)).inserted {
        total.append(QueryOrdering(fieldIndex: index, collation: .binary))
      }
    }
    return total
  }

  private struct Term: Hashable {
    var field: Int
    var collation: Collation
  }

  public func hash(into hasher: inout Hasher) {
    // The schema is large and its name nearly always decides; equality still compares all of it.
    hasher.combine(schema.name)
    hasher.combine(condition)
    hasher.combine(orderings)
    hasher.combine(limit)
    hasher.combine(offset)
  }
}

extension StoreQuery {
  /// All records of a model, in the order of their keys.
  public init(_ schema: ModelSchema) {
    self.init(schema, where: nil)
  }
}
