/// A query as a value: which records, in which order, and which part of them. It holds no rows and
/// no connection. A transaction fetches it once; a live query keeps its result up to date.
///
/// For models, build it with key paths; for dynamic records, from text with ``PredicateParser``.
/// ```swift
/// let long = Track.where { $0.milliseconds > 300_000 && $0.title.like("So%") }
///   .order { $0.title.collate(.nocase) }
///   .limit(20)
/// ```
/// The result is always totally ordered: after the given orderings, the key decides, ascending.
/// Only a view without a key lacks that last step.
public struct StoreQuery<Element: Fetchable>: Hashable, Sendable {
  public let schema: ModelSchema
  /// The condition of selected records, or nil for all records.
  package var condition: Condition?
  /// The requested order; ``totalOrderings`` adds the key.
  package var orderings: [QueryOrdering]
  /// The maximum number of records in the result, at least 0; nil for all.
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

  /// Whether a limit or offset restricts the result to a part of the matching records.
  package var isWindow: Bool { limit != nil || offset > 0 }

  /// Whether each step of SQLite is short, so that it can be stopped soon. A view may count a table
  /// in one step, and so may SQL text, which may also search a full-text index in one.
  @usableFromInline var hasShortSteps: Bool {
    !schema.isView && !(condition?.containsSQL ?? false)
  }

  /// Returns the records that also meet `condition`.
  package func filter(_ condition: Condition) -> Self {
    var query = self
    query.condition = self.condition.map { $0.and(condition) } ?? condition
    return query
  }

  /// Returns the same records in another order, which replaces the previous order.
  package func order(_ orderings: [QueryOrdering]) -> Self {
    var query = self
    query.orderings = orderings
    return query
  }

  /// Returns at most `limit` records of the ordered result, after skipping `offset`.
  ///
  /// - Precondition: Neither is negative.
  public func limit(_ limit: Int?, offset: Int = 0) -> Self {
    var query = self
    query.limit = limit
    query.offset = offset
    return query
  }

  /// The orderings without repetitions, then the key's fields ascending: an order in which no two
  /// records are equal. Without it, SQLite's query plan would decide the order of ties.
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
      // BINARY distinguishes values that another collation may call equal.
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
    // The schema is large and its name is nearly always unique. Equality still compares all of it.
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
