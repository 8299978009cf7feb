extension SchemaSnapshot {
  /// Reads the schema of a file from one snapshot.
  ///
  /// - Throws: As ``Catalog/init(reading:only:)``.
  init(reading connection: Connection) throws {
    self = try connection.inOneState {
      SchemaSnapshot(
        try Catalog(reading: connection),
        texts: try MigrationPlanner(connection: connection).texts())
    }
  }

  /// The schema that a script of SQL creates in an empty database.
  ///
  /// - Parameter functions: The functions that its CHECKs may call.
  /// - Throws: ``StoreError`` that gives the statement's place in the script, if SQLite refuses it
  ///   or a migration may not run it.
  package init(script: String, functions: Set<SQLFunction> = []) throws {
    let scratch = try ScratchSchema(functions: functions)
    for (index, statement) in SQLTokens(script).statements.enumerated() {
      let place = "Statement \(index + 1)"
      try MigrationScript.check(statement, at: place)
      do {
        try scratch.run([statement])
      } catch let error as SQLiteError {
        var failure = StoreError(error)
        failure.message = "\(place): \(error.message)."
        throw failure
      }
    }
    self = try scratch.snapshot()
  }

  /// The schema as `plan` and the declared models want it. Tables without a step, and what no model
  /// declares, stay as they are in `current`.
  ///
  /// - Throws: ``SQLiteError`` if a declared table cannot be created.
  init(
    bringing current: SchemaSnapshot, inLineWith models: [ModelSchema], by plan: MigrationPlan,
    functions: Set<SQLFunction>
  ) throws {
    let scratch = try ScratchSchema(functions: functions)
    let steps = Dictionary(grouping: plan.steps, by: \.model)
    var texts = current.texts
    var statements: [String] = []
    for model in models where !model.isAdopted && model.kind == .table {
      let actions = steps[model.name, default: []].map(\.action)
      if actions.contains(where: \.isBlocked) {
        texts.declare(model)
        continue
      }
      for case .rebuild(let rebuild) in actions { texts.replace(model.table, by: rebuild.sql) }
      for case .inPlace(let sql) in actions { statements += sql }
    }
    try scratch.create(texts, droppingWhatFails: ["index"])
    try scratch.run(statements)
    self = try scratch.snapshot()
  }
}

extension MigrationPlan.Action {
  fileprivate var isBlocked: Bool { if case .blocked = self { true } else { false } }
}

extension [SchemaText] {
  /// Replaces a table and its declared indexes by those of `model`. Triggers stay, and so do
  /// indexes that no model declares.
  fileprivate mutating func declare(_ model: ModelSchema) {
    let table = model.table.asciiFolded
    let declared = SchemaSQL(model).objects
    removeAll { text in
      guard text.table.asciiFolded == table else { return false }
      return text.type == "table"
        || text.type == "index"
          && (text.name.hasPrefix(ModelSchema.referenceIndexPrefix)
            || declared.contains { $0.name.asciiFolded == text.name.asciiFolded })
    }
    self += declared.map {
      SchemaText(type: $0.kind.rawValue, name: $0.name, table: model.table, sql: $0.sql)
    }
  }

  /// Gives the table called `name` another text.
  fileprivate mutating func replace(_ name: String, by sql: String) {
    for index in indices
    where self[index].type == "table" && self[index].name.asciiFolded == name.asciiFolded {
      self[index] = SchemaText(
        type: "table", name: self[index].name, table: self[index].table, sql: sql)
    }
  }
}

/// An empty database in memory, in which a schema is created and changed before a file is.
struct ScratchSchema {
  let connection: Connection

  /// - Parameter functions: The functions of the store's connections, which CHECKs may call.
  init(functions: Set<SQLFunction>) throws {
    connection = try Connection(
      path: ":memory:", role: .writer,
      policy: Connection.Policy(
        durability: .normal, busyTimeout: .zero, cacheSize: 1 << 18, statementCacheCapacity: 32,
        functions: functions))
    try connection.execute("PRAGMA foreign_keys = OFF")
  }

  /// Creates objects. Their order may be any: tables come first.
  ///
  /// - Parameter types: The types of objects that are left out if SQLite refuses them.
  func create(_ texts: [SchemaText], droppingWhatFails types: Set<String> = []) throws {
    for type in ["table", "view", "index", "trigger"] {
      for text in texts where text.type == type {
        do {
          try run([text.sql])
        } catch let error as SQLiteError
          where types.contains(type) && error.code.primary == .error
        {
          continue
        }
      }
    }
  }

  func run(_ statements: [String]) throws {
    try connection.readingQuotedStrings {
      for statement in statements { try connection.execute(statement) }
    }
  }

  /// Runs `statements` completely or not at all.
  ///
  /// - Returns: Whether they ran, and led to what `isExpected` wants.
  func attempt(_ statements: [String], _ isExpected: () throws -> Bool) throws -> Bool {
    try connection.execute("SAVEPOINT attempt")
    do {
      try run(statements)
      if try isExpected() {
        try connection.execute("RELEASE attempt")
        return true
      }
    } catch let error as SQLiteError where Self.refusals.contains(error.code.primary) {
      // SQLite refuses this way, or the empty tables do not have what a statement needs.
      // ON CONFLICT ROLLBACK and RAISE(ROLLBACK) end the savepoint, too.
      guard connection.isInTransaction else { return false }
    }
    try connection.execute("ROLLBACK TO attempt; RELEASE attempt")
    return false
  }

  private static let refusals: [ResultCode] = [.error, .constraint, .mismatch]

  func snapshot() throws -> SchemaSnapshot { try SchemaSnapshot(reading: connection) }
}
