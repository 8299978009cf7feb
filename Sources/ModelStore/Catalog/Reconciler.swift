/// Gives a file the tables, indexes and triggers that it should have: the one place that creates
/// and drops objects of models, bindings, rules and the change journal.
///
/// What a file should have is compiled first, without a connection: ``SchemaUpdate``,
/// ``CompiledBindings``, ``CompiledRules`` and ``CompiledJournal`` each make a ``SchemaPlan`` from
/// declarations and the facts of a file. The parts are reconciled one after the other, because each
/// is compiled from what the file has then: the tables, the bindings, the rules, the journal.
struct Reconciler {
  let connection: Connection

  /// A binding whose objects were new or had changed, and the records that had to follow.
  struct Synchronised: Hashable, Sendable {
    let binding: String
    let recordCount: Int
  }

  init(_ connection: Connection) {
    self.connection = connection
  }

  /// Carries out `plan`, and verifies that records keep the values that they are given.
  ///
  /// - Parameter onProgress: Called with records looked at and all that are to be, for each of the
  ///   bindings anew.
  /// - Returns: The bindings whose records had to follow, in the plan's order.
  /// - Throws: ``SQLiteError`` from SQLite, for example when records break a unique rule;
  ///   ``StoreError`` when an expression is refused or records do not take their value. The caller
  ///   rolls back.
  /// - Precondition: A write transaction is open.
  /// - Complexity: One pass over the targets' table for each binding whose records must follow.
  @discardableResult
  func apply(
    _ plan: SchemaPlan, onProgress: (_ done: Int, _ all: Int) throws -> Void = { _, _ in }
  ) throws -> [Synchronised] {
    precondition(connection.isInTransaction, "A schema changes only inside a transaction.")
    var synchronised: [Synchronised] = []
    for step in plan.steps {
      switch step {
      case .checkExpressions(let binding):
        try binding.checkExpressions(on: connection)
        try binding.checkFinders(on: connection)
      case .drop(let object):
        try connection.execute(
          "DROP \(object.kind.rawValue.uppercased()) \(SQLText.quoted(object.name))")
      case .create(let object): try connection.execute(object.sql)
      case .addColumn(let statement): try AddedColumns.run(statement, on: connection)
      case .checkNames(let binding): try binding.checkNames(on: connection)
      case .synchronise(let binding):
        let count = try binding.synchronise(on: connection, onProgress: onProgress)
        synchronised.append(
          Synchronised(binding: binding.binding.name, recordCount: count))
      case .write(let statement): try connection.run(statement)
      case .verify(let binding): try binding.checkValues(on: connection)
      }
    }
    return synchronised
  }

  /// Makes the file's binding objects those of `bindings` and puts the records of every new or
  /// changed binding right. Bindings that only the file has stay, and so do those that call a
  /// function which this program does not have.
  ///
  /// - Returns: The new and changed bindings, in dependency order.
  /// - Precondition: As for ``apply(_:onProgress:)``, and the models' tables exist.
  @discardableResult
  func reconcile(
    _ bindings: CompiledBindings,
    onProgress: (_ done: Int, _ all: Int) throws -> Void = { _, _ in }
  ) throws -> [Synchronised] {
    let computable = try bindings.keeping { try $0.missingFunction(on: connection) == nil }
    return try apply(
      computable.plan(from: .ofBindings(in: connection)), onProgress: onProgress)
  }

  /// Makes the file's objects of rules those of `rules`. Touches no record.
  ///
  /// - Precondition: As for ``apply(_:onProgress:)``, the models' tables exist, and SQLite takes
  ///   the conditions of rules that are new or changed: ``RuleObjects/check(on:)``.
  func reconcile(_ rules: CompiledRules) throws {
    try apply(rules.plan(from: .ofRules(in: connection)))
  }

  /// Drops everything that keeps the binding called `name`. Bound fields keep the values they have.
  ///
  /// - Returns: Whether the file had such a binding.
  @discardableResult
  func dropBinding(_ name: String) throws -> Bool {
    let found = try InstalledObjects.ofBindings(in: connection).objects
      .filter { $0.owner == .binding(name) }
    try apply(SchemaPlan(dropped: found))
    return !found.isEmpty
  }

  /// Makes what is missing of the binding's own tables and indexes, or is not as it must be, and
  /// fills the tables, so that triggers that are there find in them what they add to and take from.
  ///
  /// - Parameter installed: What bindings have in the file.
  func restoreStorage(of binding: BindingTriggers, in installed: InstalledObjects) throws {
    let storage = Set(binding.storage.map(\.identity))
    let plan = SchemaPlan(from: binding.storage, to: installed) { storage.contains($0.identity) }
    guard !plan.isEmpty else { return }
    try apply(plan)
    try binding.fillStorage(on: connection)
  }

  /// Drops every trigger of the journal, so that tables can be changed as SQLite allows only
  /// without them. Reconciling the journal creates them again and records that it has a gap.
  func suspendJournal() throws {
    try apply(SchemaPlan(dropped: try InstalledObjects.ofJournal(in: connection).objects))
  }
}
