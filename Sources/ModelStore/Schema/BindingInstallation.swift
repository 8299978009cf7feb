/// Brings a file's binding triggers in line with what is declared: creates what is missing,
/// re-creates what differs, touches nothing else.
///
/// A binding that is in the file but not among those given stays: it is listed in
/// ``Difference/undeclared``. Only ``remove(_:from:)`` takes it away, which opening a store calls
/// for what can be kept no more.
struct BindingInstallation {
  /// A binding whose triggers were new or had changed, and the records that had to follow.
  struct Synchronised: Hashable, Sendable {
    let binding: String
    let recordCount: Int
  }

  /// The declared bindings, each after those it reads from.
  let bindings: [BindingTriggers]

  /// - Throws: ``StoreError`` when a binding cannot be kept, or not together with the others.
  init(_ schemas: [BindingSchema], in models: [ModelSchema]) throws(StoreError) {
    bindings = try ResolvedBinding.inDependencyOrder(schemas, in: models).map(BindingTriggers.init)
  }

  /// What must happen to the file's triggers. A pure comparison.
  struct Difference: Hashable, Sendable {
    /// Triggers to drop, by name, because their text differs or their event is no longer needed.
    var dropped: [String] = []
    var created: [BindingTriggers.Trigger] = []
    /// The declared bindings that any of this is about, in dependency order.
    var changed: [String] = []
    /// Bindings that only the file has, in name order.
    var undeclared: [String] = []

    var isEmpty: Bool { dropped.isEmpty && created.isEmpty }
  }

  /// - Parameter found: The file's binding triggers: name → text in `sqlite_schema`.
  func difference(from found: [String: String]) -> Difference {
    var difference = Difference()
    for binding in bindings {
      let stale = found.keys.filter { name in
        BindingTriggers.bindingName(ofTrigger: name) == binding.binding.name
          && !binding.triggers.contains { $0.name == name && Self.holds(found, $0) }
      }
      let missing = binding.triggers.filter { !Self.holds(found, $0) }
      difference.dropped += stale.sorted()
      difference.created += missing
      if !stale.isEmpty || !missing.isEmpty { difference.changed.append(binding.binding.name) }
    }
    let declared = Set(bindings.map(\.binding.name))
    difference.undeclared = Set(found.keys.compactMap(BindingTriggers.bindingName))
      .subtracting(declared).sorted()
    return difference
  }

  /// What is wrong with the triggers in the file and with the values they keep, by the order of
  /// ``bindings``; bindings that only the file has follow, by name.
  func findings(on connection: Connection) throws -> [BindingFinding] {
    let found = try Self.triggers(in: connection)
    let difference = difference(from: found)
    let wrong = difference.dropped + difference.created.map(\.name)
    let declared = try bindings.map { binding in
      BindingFinding(
        binding: binding.binding.name,
        triggers: Set(wrong.filter { Self.name($0, isOf: binding) }).sorted(),
        recordCount: try binding.driftingRecordCount(on: connection))
    }
    let undeclared = difference.undeclared.map { name in
      BindingFinding(
        binding: name,
        triggers: found.keys.filter { BindingTriggers.bindingName(ofTrigger: $0) == name }.sorted(),
        recordCount: 0)
    }
    return declared.filter { !$0.triggers.isEmpty || $0.recordCount > 0 } + undeclared
  }

  private static func holds(_ found: [String: String], _ trigger: BindingTriggers.Trigger) -> Bool {
    found[trigger.name]?.isExactly(trigger.sql) ?? false
  }

  private static func name(_ trigger: String, isOf binding: BindingTriggers) -> Bool {
    BindingTriggers.bindingName(ofTrigger: trigger) == binding.binding.name
  }

  /// The binding triggers in the file: name → text.
  static func triggers(in connection: Connection) throws -> [String: String] {
    let rows = try connection.rows(
      """
      SELECT name, sql
      FROM sqlite_schema
      WHERE type = 'trigger' AND instr(name, \(BindingTriggers.namePrefix)) = 1
      """
    ) { row in (try row.text(at: 0), try row.text(at: 1)) }
    return Dictionary(rows) { first, _ in first }
  }

  /// Makes the file's triggers those of ``bindings`` and puts the records of every new or changed
  /// binding right, sources before what follows them.
  ///
  /// - Returns: The new and changed bindings, in dependency order.
  /// - Throws: ``SQLiteError`` from SQLite, ``StoreError`` when an expression is refused or records
  ///   do not take their value. The caller rolls back.
  /// - Precondition: A write transaction is open, and the models' tables exist.
  /// - Complexity: One pass over the targets' table for each new or changed binding.
  func apply(to connection: Connection) throws -> [Synchronised] {
    precondition(connection.isInTransaction, "Bindings are installed inside a transaction.")
    let difference = difference(from: try Self.triggers(in: connection))
    guard !difference.isEmpty else { return [] }
    let changed = bindings.filter { difference.changed.contains($0.binding.name) }
    for binding in changed { try binding.check(on: connection) }
    for name in difference.dropped {
      try connection.execute("DROP TRIGGER \(SQLText.quoted(name))")
    }
    let synchronised = try changed.map { binding in
      Synchronised(
        binding: binding.binding.name, recordCount: try binding.synchronise(on: connection))
    }
    // SQLite promises no order but runs the youngest trigger first, so the sources' go last here:
    // what follows them is then computed once. Nothing but the saved work depends on it.
    for trigger in difference.created.reversed() { try connection.execute(trigger.sql) }
    // A trigger of the application may have answered the synchronisation with changes of its own.
    for binding in changed where try binding.driftingRecordCount(on: connection) > 0 {
      throw StoreError(
        .unsupportedSchema,
        "The binding \(binding.binding.name) cannot be kept: a trigger changes "
          + "\(binding.binding.target) back. Remove that trigger, or the binding.",
        model: binding.binding.target.model, field: binding.binding.target.field)
    }
    return synchronised
  }

  /// Drops the triggers of the binding called `name`. Bound fields keep the values they have.
  ///
  /// - Returns: Whether the file had such a binding.
  static func remove(_ name: String, from connection: Connection) throws -> Bool {
    let found = try triggers(in: connection).keys
      .filter { BindingTriggers.bindingName(ofTrigger: $0) == name }
    for trigger in found.sorted() {
      try connection.execute("DROP TRIGGER \(SQLText.quoted(trigger))")
    }
    return !found.isEmpty
  }
}

extension BindingTriggers {
  /// Puts every record right that is not.
  ///
  /// - Returns: How many were not.
  func synchronise(on connection: Connection) throws -> Int {
    try connection.run(SQLText(sql: synchronisation))
    return connection.changeCount
  }

  /// How many records do not hold their right value.
  func driftingRecordCount(on connection: Connection) throws -> Int {
    Int(try connection.firstRow(SQLText(sql: driftCount)) { row in try row.integer(at: 0) } ?? 0)
  }

  /// Asks SQLite whether it accepts the expression and finds every table and column.
  ///
  /// - Throws: ``StoreError`` with code `unsupportedSchema` and SQLite's reason.
  func check(on connection: Connection) throws {
    do {
      // CREATE TRIGGER takes a body that names what is not there; it fails when it fires:
      // https://sqlite.org/lang_createtrigger.html
      try connection.withStatement(driftCount) { _ in }
      guard let expressionProbe, case .derive(let sql) = binding.formula else { return }
      try connection.withStatement(expressionProbe) { _ in }
      try checkFunctions(in: try SQLExpression(sql), on: connection)
    } catch let error as SQLiteError {
      throw refusal("SQLite says: \(error.message). Check the names and the expression.")
    }
  }

  private func checkFunctions(in expression: SQLExpression, on connection: Connection) throws {
    if let name = try expression.registeredFunction(on: connection) {
      throw refusal(
        "other writers do not have the function \(name). Use functions built into SQLite.")
    }
  }

  private func refusal(_ reason: String) -> StoreError {
    StoreError(
      .unsupportedSchema, "The binding \(binding.name) cannot be kept: \(reason)",
      model: binding.target.model, field: binding.target.field)
  }
}
