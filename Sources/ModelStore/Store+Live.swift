extension Store {
  /// Keeps the result of `query` true from now on.
  ///
  /// - Throws: ``StoreError`` with code `invalidQuery` for a query that cannot be kept row by row:
  ///   one with a limit or offset, raw SQL, a view, or a collation of the program's own. Fetch such
  ///   a query when needed.
  /// - Complexity: Reads the result once, while writers wait; then O(log n) for each changed
  ///   record.
  public func live<Element>(_ query: Query<Element>) throws -> LiveQuery<Element> {
    let rule = try LiveResult.Rule(query)
    let text = try query.selectText()
    let core = core
    let report = core.report
    let reload: @Sendable (Connection) throws -> [[SQLValue]] = { connection in
      try connection.rows(text) { row in try row.values() }
    }
    return try core.writer.sync { writer in
      // No commit of this store can come between reading and registering; another process's is
      // noticed by its version at the next write.
      if try writer.noticeForeignCommit() { core.broker.publish([], isReset: true) }
      let images: [[SQLValue]]
      do {
        images = try reload(writer.connection)
      } catch {
        throw core.models.storeError(error, about: query.schema)
      }
      let result = LiveResult(
        rule: rule, images: images, version: core.broker.version,
        reload: { [weak core] in
          guard let core else { return [] }
          return try core.writersReader.sync(reload)
        }, report: report)
      let registration = Subscription(core.broker.add(result))
      return LiveQuery(
        query: query, result: result, registration: registration,
        capacity: core.configuration.mailboxCapacity, report: report)
    }
  }
}

extension LiveResult.Rule {
  fileprivate init<Element>(_ query: Query<Element>) throws {
    let schema = query.schema
    func refusal(_ reason: String) -> StoreError {
      StoreError(
        .invalidQuery,
        "A live query of \(schema.name) cannot be kept true: \(reason). Fetch it when needed.",
        model: schema.name)
    }
    guard schema.kind == .table else { throw refusal("it reads a view") }
    guard !query.isWindow else { throw refusal("it has a limit or an offset") }
    var admits: (@Sendable ([SQLValue]) -> Bool)?
    if let condition = query.condition {
      guard let evaluator = ConditionEvaluator(condition, schema: schema) else {
        throw refusal("only SQLite can evaluate its condition")
      }
      admits = { evaluator($0) == true }
    }
    let terms = query.orderings.map { ordering in
      (
        field: ordering.fieldIndex,
        term: SortTerm(
          collation: ordering.effectiveCollation(in: schema),
          direction: ordering.direction == .ascending ? .ascending : .descending,
          nulls: ordering.effectiveNulls == .first ? .first : .last)
      )
    }
    guard terms.allSatisfy(\.term.hasByteOrder) else {
      throw refusal("it is ordered by a collation of the program's own")
    }
    self.init(schema: schema, admits: admits, terms: terms)
  }
}
