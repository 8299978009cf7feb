extension Store {
  /// Keeps the result of `query` true from now on. Its ``LiveQuery/plan`` says how: record by
  /// record, or, for a condition or order that only SQLite can evaluate and for a view, by running
  /// the query again after each commit that touches what it reads.
  ///
  /// - Throws: ``StoreError`` with code `invalidQuery` for a query that reads a table which is no
  ///   model, whose changes nobody sees; `misuse` inside a write of this store.
  /// - Complexity: Reads the result once, while writers wait; an equal query that lives already is
  ///   shared. Then see ``LivePlan``.
  public func live<Element>(_ query: Query<Element>) throws -> LiveQuery<Element> {
    let core = core
    let plan = try LiveBlueprint(query)
    return try core.writer.sync { writer in
      // No commit of this store can come between reading and registering; another process's is
      // noticed by its version at the next write.
      try core.publishWhatOthersDid(&writer)
      do {
        let source = try core.source(for: plan, on: writer.connection)
        return LiveQuery(query: query, source: source, store: LiveStore(core))
      } catch {
        throw core.models.storeError(error, about: query.schema)
      }
    }
  }
}

/// How a query is to be kept, decided from the query alone.
private struct LiveBlueprint {
  /// The query without its window, as a dynamic one: what equal live queries share.
  let base: Query<Record>
  let window: QueryWindow?
  /// How changed records find their place, or why they cannot.
  let rule: Result<LiveResult.Rule, Requery>

  /// Why a query has to be run again.
  struct Requery: Error {
    let reason: String
  }

  init<Element>(_ query: Query<Element>) throws {
    base = Query<Record>(
      query.schema, where: query.condition, orderings: query.totalOrderings)
    window = query.isWindow ? QueryWindow(offset: query.offset, limit: query.limit) : nil
    rule = Self.rule(base)
    _ = try query.selectText()
  }

  /// What is run again: in a total order, so that two runs can be compared.
  var repeated: Query<Record> {
    var query = base.limit(window?.limit, offset: window?.offset ?? 0)
    if query.schema.kind == .view {
      let ordered = Set(query.orderings.map(\.fieldIndex))
      query.orderings += query.schema.fields.indices.filter { !ordered.contains($0) }
        .map { QueryOrdering(fieldIndex: $0, collation: .binary) }
    }
    return query
  }

  private static func rule(_ query: Query<Record>) -> Result<LiveResult.Rule, Requery> {
    let schema = query.schema
    guard schema.kind == .table else { return .failure(Requery(reason: "it reads a view")) }
    var admits: (@Sendable ([SQLValue]) -> Bool)?
    if let condition = query.condition {
      guard let evaluator = ConditionEvaluator(condition, schema: schema) else {
        return .failure(Requery(reason: "only SQLite can evaluate its condition"))
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
      return .failure(Requery(reason: "it is ordered by a collation of the program's own"))
    }
    return .success(LiveResult.Rule(schema: schema, admits: admits, terms: terms))
  }
}

extension StoreCore {
  /// Tells observers what other connections wrote, and reads again what could not be read.
  func publishWhatOthersDid(_ writer: inout Writer) throws {
    if try writer.noticeForeignCommit() {
      broker.publish(.reset)
    } else if broker.hasFailed {
      broker.publish(.nothing)
    }
  }

  /// On the writer's queue.
  fileprivate func source(
    for plan: LiveBlueprint, on connection: Connection
  ) throws -> any LiveSource {
    switch plan.rule {
    case .failure(let requery):
      return try requeried(plan, because: requery.reason, on: connection)
    case .success(let rule):
      if let window = plan.window, !liveResults.keeps(plan.base),
        let source = try seeking(window, rule, plan.base, on: connection)
      {
        return source
      }
      let result = try liveResults.result(for: plan.base) {
        let text = try plan.base.selectText()
        return register(
          LiveResult(
            rule: rule, interest: Self.interest(plan.base),
            images: try connection.rows(text) { row in try row.values() },
            version: broker.version, reload: reading(text), report: report))
      }
      guard let window = plan.window else { return result }
      return WindowResult(window, of: result, find: try finding(plan.base.schema), report: report)
    }
  }

  private func requeried(
    _ plan: LiveBlueprint, because reason: String, on connection: Connection
  ) throws -> any LiveSource {
    let query = plan.repeated
    let text = try query.selectText()
    let run: @Sendable (QueryWindow?) throws -> [[SQLValue]] = { [weak self] window in
      try self?.read(query.limit(window?.limit, offset: window?.offset ?? 0)) ?? []
    }
    return register(
      FetchedResult(
        rule: FetchedResult.Rule(
          schema: query.schema, orderFields: query.orderings.map(\.fieldIndex),
          isWindow: plan.window != nil),
        method: .again(reason: reason, run), window: plan.window,
        interests: try interests(readBy: text, of: query.schema),
        images: try connection.rows(text) { row in try row.values() },
        version: broker.version, report: report))
  }

  /// A window that keeps its own rows only, where an index leads to the rows on either side of it.
  private func seeking(
    _ window: QueryWindow, _ rule: LiveResult.Rule, _ query: Query<Record>,
    on connection: Connection
  ) throws -> RegisteredResult? {
    guard let limit = window.limit, limit > 0, query.canSeek else { return nil }
    let row = query.schema.fields.map { _ in SQLValue.null }
    for side in [Query<Record>.SeekSide.before, .after] {
      let text = try query.seeking(side, of: row, limit: 1).selectText()
      guard try connection.isIndexed(text) else { return nil }
    }
    let seeking = SeekingWindow(
      rule: rule,
      readAll: { [weak self] window in
        try self?.read(query.limit(window.limit, offset: window.offset)) ?? []
      },
      seek: { [weak self] side, row, limit in
        try self?.read(query.seeking(side, of: row, limit: limit)) ?? []
      })
    let text = try query.limit(limit, offset: window.offset).selectText()
    return register(
      FetchedResult(
        rule: FetchedResult.Rule(
          schema: query.schema, orderFields: query.orderings.map(\.fieldIndex), isWindow: true),
        method: .seeking(seeking), window: window, interests: [Self.interest(query)],
        images: try connection.rows(text) { row in try row.values() },
        version: broker.version, report: report))
  }

  /// What a query selects as of the latest commit, for the committing thread.
  private func read(_ query: Query<Record>) throws -> [[SQLValue]] {
    let text = try query.selectText()
    return try writersReader.sync { connection in
      try connection.rows(text) { row in try row.values() }
    }
  }

  private func register(_ result: some ChangeBroker.Observer & LiveSource) -> RegisteredResult {
    RegisteredResult(result, end: broker.add(result))
  }

  /// All rows of a statement as of the latest commit, for the committing thread.
  private func reading(_ text: SQLText) -> @Sendable () throws -> [[SQLValue]] {
    { [weak self] in
      guard let self else { return [] }
      return try writersReader.sync { connection in
        try connection.rows(text) { row in try row.values() }
      }
    }
  }

  /// Single records as of the latest commit, for the committing thread.
  private func finding(
    _ schema: ModelSchema
  ) throws -> @Sendable ([[SQLValue]]) throws -> [[SQLValue]?] {
    let text = models.statements(for: schema).select
    return { [weak self] keys in
      guard let self, !keys.isEmpty else { return keys.map { _ in nil } }
      return try writersReader.sync { connection in
        try keys.map { key in
          try connection.firstRow(SQLText(sql: text, arguments: key)) { row in try row.values() }
        }
      }
    }
  }

  /// What can matter to a query whose condition is evaluated here.
  private static func interest(_ query: Query<Record>) -> ChangeBroker.Interest {
    let term = QueryRegion(query).equalityTerms.first
    return ChangeBroker.Interest(
      model: query.schema.name,
      records: term.map { .having(field: $0.field, value: $0.value) } ?? .all, fields: nil)
  }

  /// What can matter to a query that SQLite evaluates: every table that it reads.
  private func interests(
    readBy text: SQLText, of schema: ModelSchema
  ) throws -> [ChangeBroker.Interest] {
    let (sources, catalog) = try writersReader.sync { connection in
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

extension LiveStore {
  /// What live queries of `core` need. They do not keep it open.
  init(_ core: StoreCore) {
    let broker = core.broker
    self.init(broker: broker, report: core.report) { [weak core] body in
      guard let core else { throw StoreError(.misuse, "The store is closed.") }
      try core.writer.sync { writer in
        try core.publishWhatOthersDid(&writer)
        let connection = writer.connection
        try body(
          Reading(
            read: { text in try connection.rows(text) { row in try row.values() } },
            broker: broker))
      }
    }
  }
}
