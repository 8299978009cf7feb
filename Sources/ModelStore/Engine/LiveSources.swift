// What keeps the results of queries up to date.
extension StoreEngine {
  func source(for plan: LiveBlueprint) throws -> any LiveSource {
    let ready = try beside(plan) { try self.readySource(for: plan, on: $0.connection) }
    if let ready { return ready }
    guard case .success(let rule) = plan.rule else {
      preconditionFailure("Only a query that is run again cannot be followed.")
    }
    return try hydrate(plan, by: rule)
  }

  /// Runs `body` on the writer's queue, in the state that observers were told of: no commit can
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

  /// What is kept already or is read in no time; nil for a result that is to be read beside
  /// writers. On the writer's queue.
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

  /// What `plan` shows of a result. On the writer's queue.
  func part(
    _ window: QueryWindow?, of result: RegisteredResult, _ plan: LiveBlueprint
  ) throws -> any LiveSource {
    guard let window else { return result }
    return WindowResult(window, of: result, find: try finding(plan.base.schema), report: report)
  }

  /// A result of which `rows` were read, and which is followed from now on. On the writer's queue.
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

  /// A window that keeps its own rows only, where an index leads to the rows on either side of it.
  private func seeking(
    _ window: QueryWindow, _ rule: LiveResult.Rule, _ plan: LiveBlueprint,
    on connection: Connection
  ) throws -> RegisteredResult? {
    let query = plan.base
    guard SeekingWindow.suits(window), let limit = window.limit, limit > 0, query.canSeek else {
      return nil
    }
    let row = query.schema.fields.map { _ in SQLValue.null }
    for side in [StoreQuery<DynamicRecord>.SeekSide.before, .after] {
      let text = try query.seeking(side, of: row, limit: 1).selectText()
      guard try connection.isIndexed(text) else { return nil }
    }
    let seeking = SeekingWindow(
      rule: rule,
      readAll: { [weak self] window in
        guard let self else { throw StoreLease.closed }
        return try read(query.limit(window.limit, offset: window.offset))
      },
      seek: { [weak self] side, row, limit in
        guard let self else { throw StoreLease.closed }
        return try read(query.seeking(side, of: row, limit: limit))
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

  /// The whole result as of now, which nobody follows yet. On the writer's queue.
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
      reload: reading(try plan.base.selectText()), report: report)
  }

  /// What a query selects in the state that is being told, for the committing thread.
  private func read(_ query: StoreQuery<DynamicRecord>) throws -> [[SQLValue]] {
    let text = try query.selectText()
    return try foreignSync.readPublished { connection in
      try connection.rows(text) { row in try row.values() }
    }
  }

  private func register(_ result: some ChangeBroker.Observer & LiveSource) -> RegisteredResult {
    RegisteredResult(result, end: broker.add(result))
  }

  /// All rows of a statement in the state that is being told, for the committing thread.
  private func reading(_ text: SQLText) -> @Sendable () throws -> [[SQLValue]] {
    { [weak self] in
      guard let self else { throw StoreLease.closed }
      return try foreignSync.readPublished { connection in
        try connection.rows(text) { row in try row.values() }
      }
    }
  }

  /// Single records in the state that is being told, for the committing thread.
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

  /// What can matter to a query that SQLite evaluates: every table that it reads.
  private func interests(
    readBy text: SQLText, of schema: ModelSchema
  ) throws -> [ChangeBroker.Interest] {
    // Elsewhere, since it has SQLite compile every statement of the connection anew.
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
          "the table \(table.name), which is no model of this store, so nobody sees its changes. Adopt it, or fetch"
        )
      }
      observed.insert(ExactText(model.name))
    }
    return observed.map(\.text).sorted().map { ChangeBroker.Interest(model: $0, fields: nil) }
  }

  /// Refuses a source that is no table of the file, unless its rows come from the statement alone.
  private func checkNeedsNoTable(_ source: RowSource, in schema: ModelSchema) throws {
    // What is in no database is a name that the statement gives to a subquery; what the subquery
    // reads is told apart from it.
    guard source.database != nil, !Self.computingFunctions.contains(source.name.asciiFolded) else {
      return
    }
    throw unobservable(
      schema, "\(source.name), which is no table of the file but SQLite's own. Fetch")
  }

  /// Table-valued functions whose rows depend on their arguments alone:
  /// <https://sqlite.org/json1.html#jeach>.
  private static let computingFunctions: Set = [
    "json_each", "json_tree", "jsonb_each", "jsonb_tree",
  ]

  private func unobservable(_ schema: ModelSchema, _ reason: String) -> StoreError {
    StoreError(
      .invalidQuery,
      "A live query of \(schema.name) cannot be kept true: it reads \(reason) the query when needed.",
      model: schema.name)
  }
}
