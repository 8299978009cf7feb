// Creating and sharing the sources of live queries.
extension StoreEngine {
  func source(for plan: LiveBlueprint) throws -> any LiveSource {
    let ready = try beside(plan) { try self.readySource(for: plan, on: $0.connection) }
    if let ready { return ready }
    guard case .success(let rule) = plan.rule else {
      preconditionFailure("Only a query that is re-run has no rule for incremental updates.")
    }
    return try hydrate(plan, by: rule)
  }

  /// Runs `body` on the writer's queue, in the state that observers have received. No commit can
  /// come between what it reads and what it registers.
  func beside<Result>(
    _ plan: LiveBlueprint, _ body: (Writer) throws -> Result
  ) throws -> Result {
    try connections.writer.sync { writer in
      do {
        return try self.foreignSync.atPublishedState(&writer, body)
      } catch {
        throw models.storeError(error, about: plan.base.schema)
      }
    }
  }

  /// Returns a source that already exists or is quick to read. Must run on the writer's queue.
  ///
  /// - Returns: nil for a result that must be read while writes continue.
  private func readySource(
    for plan: LiveBlueprint, on connection: Connection
  ) throws -> (any LiveSource)? {
    switch plan.rule {
    case .failure(let requery):
      return try requeried(plan, because: requery.reason, on: connection)
    case .success(let rule):
      if let kept = liveResults.kept(plan.base) { return try part(plan.window, of: kept, plan) }
      return try plan.window.flatMap { try seeking($0, rule, plan, on: connection) }
    }
  }

  /// Returns the part of a result that `plan` shows. Must run on the writer's queue.
  func part(
    _ window: QueryWindow?, of result: RegisteredResult, _ plan: LiveBlueprint
  ) throws -> any LiveSource {
    guard let window else { return result }
    return WindowResult(window, of: result, find: try finding(plan.base.schema), report: report)
  }

  /// Registers a result with the rows that were read, so that it stays up to date from now on. Must
  /// run on the writer's queue.
  func follow(
    _ rows: LiveRows, _ plan: LiveBlueprint, by rule: LiveResult.Rule
  ) throws -> RegisteredResult {
    try liveResults.result(for: plan.base) {
      register(try result(rows, plan, by: rule))
    }
  }

  private func requeried(
    _ plan: LiveBlueprint, because reason: String, on connection: Connection
  ) throws -> any LiveSource {
    let query = plan.repeated
    let text = try query.selectText()
    let run: @Sendable (QueryWindow?) throws -> [[SQLValue]] = { [weak self] window in
      guard let self else { throw StoreLease.closed }
      return try read(query.limit(window?.limit, offset: window?.offset ?? 0))
    }
    let rule = FetchedResult.Rule(
      schema: query.schema,
      terms: query.orderings.map { ordering in
        let term = SortTerm(collation: ordering.effectiveCollation(in: query.schema))
        return (field: ordering.fieldIndex, term: term.hasByteOrder ? term : SortTerm())
      },
      isWindow: plan.window != nil)
    let interests = try interests(readBy: text, of: query.schema)
    let images = try connection.rows(text) { row in try row.values() }
    return register(
      FetchedResult(
        rule: rule, method: .again(reason: reason, run), interests: interests,
        run: .init(list: rule.list(images, in: plan.window), version: broker.version),
        report: report))
  }

  /// Returns a window that stores only its own rows, if an index finds the rows on either side of
  /// it.
  private func seeking(
    _ window: QueryWindow, _ rule: LiveResult.Rule, _ plan: LiveBlueprint,
    on connection: Connection
  ) throws -> RegisteredResult? {
    let query = plan.base
    guard SeekingWindow.suits(window), let limit = window.limit, limit > 0, query.canSeek else {
      return nil
    }
    let row = query.schema.fields.map { _ in SQLValue.null }
    let before = try SeekStatement(query, .before)
    let after = try SeekStatement(query, .after)
    for statement in [before, after] {
      guard try connection.isIndexed(statement.text(of: row, limit: 1)) else { return nil }
    }
    let seeking = SeekingWindow(
      rule: rule,
      readAll: { [weak self] window in
        guard let self else { throw StoreLease.closed }
        return try read(query.limit(window.limit, offset: window.offset))
      },
      seek: { [weak self] side, row, limit in
        guard let self else { throw StoreLease.closed }
        return try read((side == .before ? before : after).text(of: row, limit: limit))
      },
      onTree: { [weak self] window in
        guard let self else { throw StoreLease.closed }
        let all = try tree(plan, by: rule)
        let shown = WindowResult(
          window, of: all, find: try finding(plan.base.schema), report: report)
        return (all, shown)
      })
    let text = try query.limit(limit, offset: window.offset).selectText()
    let rowRule = FetchedResult.Rule(schema: query.schema, terms: rule.terms, isWindow: true)
    let images = try connection.rows(text) { row in try row.values() }
    return register(
      FetchedResult(
        rule: rowRule, method: .seeking(seeking), interests: [plan.interest],
        run: .init(list: rowRule.list(images, in: window), version: broker.version),
        report: report))
  }

  /// Returns the whole current result, which is not registered yet. Must run on the writer's queue.
  private func tree(_ plan: LiveBlueprint, by rule: LiveResult.Rule) throws -> LiveResult {
    let text = try plan.placeText(rule)
    let tree = try foreignSync.readPublished { connection in
      try rule.tree(reading: text, on: connection)
    }
    return try result(LiveRows(tree: tree, version: broker.version), plan, by: rule)
  }

  private func result(
    _ rows: LiveRows, _ plan: LiveBlueprint, by rule: LiveResult.Rule
  ) throws -> LiveResult {
    LiveResult(
      rule: rule, interest: plan.interest, rows: rows,
      reload: reading(try plan.base.selectText()), readers: broker.readers, report: report)
  }

  /// Returns what a query selects in the state that is being published, for the committing thread.
  private func read(_ query: StoreQuery<DynamicRecord>) throws -> [[SQLValue]] {
    try read(try query.selectText())
  }

  private func read(_ text: SQLText) throws -> [[SQLValue]] {
    try foreignSync.readPublished { connection in
      try connection.rows(text) { row in try row.values() }
    }
  }

  private func register(_ result: some ChangeBroker.Observer & LiveSource) -> RegisteredResult {
    RegisteredResult(result, end: broker.add(result))
  }

  /// Returns a reader of all rows of a statement in the state that is being published, for the
  /// committing thread.
  private func reading(_ text: SQLText) -> @Sendable () throws -> [[SQLValue]] {
    { [weak self] in
      guard let self else { throw StoreLease.closed }
      return try foreignSync.readPublished { connection in
        try connection.rows(text) { row in try row.values() }
      }
    }
  }

  /// Returns a reader of single records in the state that is being published, for the committing
  /// thread.
  private func finding(
    _ schema: ModelSchema
  ) throws -> @Sendable ([[SQLValue]]) throws -> [[SQLValue]?] {
    let text = models.statements(for: schema).select
    return { [weak self] keys in
      guard !keys.isEmpty else { return [] }
      guard let self else { throw StoreLease.closed }
      return try foreignSync.readPublished { connection in
        try keys.map { key in
          try connection.firstRow(SQLText(sql: text, arguments: key)) { row in try row.values() }
        }
      }
    }
  }

  /// Returns the interests of a query that SQLite evaluates: every table that it reads.
  private func interests(
    readBy text: SQLText, of schema: ModelSchema
  ) throws -> [ChangeBroker.Interest] {
    // Uses another connection, because this makes SQLite recompile every statement of the
    // connection.
    let (sources, catalog) = try connections.snapshots.sync { connection in
      (try connection.sources(of: text.sql), try Catalog(reading: connection))
    }
    var observed: Set<ExactText> = []
    for source in sources.sorted(by: { $0.name < $1.name }) {
      guard let table = catalog.table(named: source.name) else {
        try checkNeedsNoTable(source, in: schema)
        continue
      }
      guard table.kind != .view else { continue }
      let name = ExactText(table.name.asciiFolded)
      guard
        let model = models.schema.models.first(where: {
          ExactText($0.table.asciiFolded) == name && $0.kind == .table
        })
      else {
        throw unobservable(
          schema,
          "the table \(table.name), which is not a model of this store, so its changes are not observed. Adopt it, or fetch"
        )
      }
      observed.insert(ExactText(model.name))
    }
    return observed.map(\.text).sorted().map { ChangeBroker.Interest(model: $0, fields: nil) }
  }

  /// Throws for a source that is not a table of the file, unless the statement alone defines its
  /// rows.
  private func checkNeedsNoTable(_ source: RowSource, in schema: ModelSchema) throws {
    // A source without a database is the statement's name for a subquery. SQLite reports the
    // sources of the subquery separately.
    guard source.database != nil, !Self.computingFunctions.contains(source.name.asciiFolded) else {
      return
    }
    throw unobservable(
      schema, "\(source.name), which belongs to SQLite and is not a table of the file. Fetch")
  }

  /// Table-valued functions whose rows depend only on their arguments:
  /// <https://sqlite.org/json1.html#jeach>.
  private static let computingFunctions: Set = [
    "json_each", "json_tree", "jsonb_each", "jsonb_tree",
  ]

  private func unobservable(_ schema: ModelSchema, _ reason: String) -> StoreError {
    StoreError(
      .invalidQuery,
      "A live query of \(schema.name) cannot be kept up to date: it reads \(reason) the query when needed.",
      model: schema.name)
  }
}
