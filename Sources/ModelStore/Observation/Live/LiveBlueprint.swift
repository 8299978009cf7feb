/// The way to keep a query's result up to date, decided from the query alone.
struct LiveBlueprint {
  /// The query as a dynamic one, without its window. Equal live queries share it.
  let base: StoreQuery<DynamicRecord>
  let window: QueryWindow?
  /// How changed records find their place, or why they cannot.
  let rule: Result<LiveResult.Rule, Requery>

  /// The reason why a query must be re-executed.
  struct Requery: Error {
    let reason: String
  }

  init<Element>(_ query: StoreQuery<Element>) throws {
    let query = query.keyed
    base = StoreQuery<DynamicRecord>(
      query.schema, where: query.condition, orderings: query.totalOrderings)
    window = query.isWindow ? QueryWindow(offset: query.offset, limit: query.limit) : nil
    rule = Self.rule(base)
    _ = try query.selectText()
  }

  /// The query to re-execute. Its order is total, so that two results can be compared.
  var repeated: StoreQuery<DynamicRecord> {
    var query = base.limit(window?.limit, offset: window?.offset ?? 0)
    if query.schema.kind == .view {
      let ordered = Set(query.orderings.map(\.fieldIndex))
      query.orderings += query.schema.fields.indices.filter { !ordered.contains($0) }
        .map { QueryOrdering(fieldIndex: $0, collation: .binary) }
    }
    return query
  }

  private static func rule(_ query: StoreQuery<DynamicRecord>) -> Result<LiveResult.Rule, Requery> {
    let schema = query.schema
    guard schema.kind == .table else { return .failure(Requery(reason: "it reads a view")) }
    var admits: (@Sendable ([SQLValue]) -> Bool)?
    if let condition = query.condition {
      guard let evaluator = ConditionEvaluator(condition, schema: schema) else {
        return .failure(Requery(reason: "only SQLite can evaluate its condition"))
      }
      admits = { evaluator($0) == true }
    }
    // Places end with the key, so the order need not contain it.
    let key = schema.keyIndices.map { QueryOrdering(fieldIndex: $0, collation: .binary) }
    let orderings =
      query.orderings.suffix(key.count).elementsEqual(key)
      ? query.orderings.dropLast(key.count) : query.orderings[...]
    let terms = orderings.map { ordering in
      (
        field: ordering.fieldIndex,
        term: SortTerm(
          collation: ordering.effectiveCollation(in: schema),
          direction: ordering.direction == .ascending ? .ascending : .descending,
          nulls: ordering.effectiveNulls == .first ? .first : .last)
      )
    }
    guard terms.allSatisfy(\.term.hasByteOrder) else {
      return .failure(Requery(reason: "it is ordered by a custom collation"))
    }
    return .success(
      LiveResult.Rule(
        schema: schema, admits: admits, filterFields: query.condition?.fieldIndices.sorted(),
        terms: terms))
  }
}

extension StoreQuery {
  /// Returns the query without records that have a NULL in their key, which cannot be identified.
  /// Only an adopted table can contain them:
  /// <https://sqlite.org/quirks.html#primary_keys_can_sometimes_contain_nulls>.
  var keyed: Self {
    guard schema.isAdopted, schema.kind == .table, !schema.isWithoutRowID else { return self }
    return schema.keyIndices.filter { !schema.fields[$0].isRowID }
      .reduce(self) { $0.filter(.isNotNull(.field($1))) }
  }
}

extension LiveBlueprint {
  /// The changes that can affect a query whose condition is evaluated in memory.
  var interest: ChangeBroker.Interest {
    let region = QueryRegion(base)
    let records: ChangeBroker.Interest.Records
    if let term = region.equalityTerms.first {
      records = .having(field: term.field, value: term.value)
    } else if let range = region.ranges.first(where: \.isBounded) ?? region.ranges.first {
      records = .within(range)
    } else {
      records = .all
    }
    return ChangeBroker.Interest(model: base.schema.name, records: records, fields: nil)
  }
}
