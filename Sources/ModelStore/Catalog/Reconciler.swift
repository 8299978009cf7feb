/// Gives a file the tables, indexes and triggers that it should have. Only this type creates and
/// drops objects of models, bindings, rules and the change journal.
///
/// The required objects are compiled first, without a connection: ``SchemaUpdate``,
/// ``CompiledBindings``, ``CompiledRules`` and ``CompiledJournal`` each make a ``SchemaPlan`` from
/// declarations and the facts of a file. The parts are reconciled one after another: tables,
/// bindings, rules, journal. Each part is compiled from the contents of the file at that time.
struct Reconciler {
  let connection: Connection

  /// A binding with new or changed objects, and the number of records that were updated.
  struct Synchronised: Hashable, Sendable {
    let binding: String
    let recordCount: Int
  }

  init(_ connection: Connection) {
    self.connection = connection
  }

  /// Applies `plan`, and checks that records keep the values that bindings write.
  ///
  /// - Parameter onProgress: Called for each binding with the name of its target's model, the
  ///   number of processed records, and the total.
  /// - Returns: The bindings whose records were updated, in the plan's order.
  /// - Throws: ``SQLiteError`` from SQLite, for example if records break a unique rule;
  ///   ``StoreError`` if an expression is rejected or records do not keep their value. The caller
  ///   rolls back.
  /// - Precondition: A write transaction is open.
  /// - Complexity: One pass over the target's table for each binding whose records must be updated.
  @discardableResult
  func apply(
    _ plan: SchemaPlan,
    onProgress: (_ model: String, _ done: Int, _ all: Int) throws -> Void = { _, _, _ in }
  ) throws -> [Synchronised] {
    precondition(connection.isInTransaction, "A schema changes only inside a transaction.")
    var synchronised: [Synchronised] = []
    for step in plan.steps {
      switch step {
      case .checkExpressions(let binding):
        try binding.checkExpressions(on: connection)
        try binding.checkFinders(on: connection)
      case .drop(let object):
        try connection.execute(object.dropSQL)
      case .create(let object): try connection.execute(object.sql)
      case .addColumn(let statement): try AddedColumns.run(statement, on: connection)
      case .checkNames(let binding): try binding.checkNames(on: connection)
      case .synchronise(let binding):
        let count = try binding.synchronise(on: connection) { done, all in
          try onProgress(binding.binding.target.model, done, all)
        }
        synchronised.append(
          Synchronised(binding: binding.binding.name, recordCount: count))
      case .write(let statement): try connection.run(statement)
      case .verify(let binding): try binding.checkValues(on: connection)
      }
    }
    return synchronised
  }

  /// Reconciles the file's binding objects with `bindings`, and updates the records of every new or
  /// changed binding.
  ///
  /// Bindings that only the file has stay. So do bindings that call a function which this program
  /// does not have.
  ///
  /// - Returns: The new and changed bindings, in dependency order.
  /// - Precondition: As for ``apply(_:onProgress:)``, and the models' tables exist.
  @discardableResult
  func reconcile(
    _ bindings: CompiledBindings,
    onProgress: (_ model: String, _ done: Int, _ all: Int) throws -> Void = { _, _, _ in }
  ) throws -> [Synchronised] {
    let computable = try bindings.keeping { try $0.missingFunction(on: connection) == nil }
    return try apply(
      computable.plan(from: .ofBindings(in: connection)), onProgress: onProgress)
  }

  /// Reconciles the file's rule objects with `rules`. It changes no records.
  ///
  /// - Precondition: As for ``apply(_:onProgress:)``. The models' tables exist, and SQLite accepts
  ///   the conditions of new and changed rules: ``RuleObjects/check(on:)``.
  func reconcile(_ rules: CompiledRules) throws {
    try apply(rules.plan(from: .ofRules(in: connection)))
  }

  /// Drops all objects of the binding called `name`. Bound fields keep their values.
  ///
  /// - Returns: Whether the file had such a binding.
  @discardableResult
  func dropBinding(_ name: String) throws -> Bool {
    let found = try InstalledObjects.ofBindings(in: connection).objects
      .filter { $0.owner == .binding(name) }
    try apply(SchemaPlan(dropped: found))
    return !found.isEmpty
  }

  /// Creates or recreates the binding's own tables and indexes if they are missing or differ, and
  /// fills the tables. Existing triggers then find the rows that they update.
  ///
  /// - Parameter installed: The objects of bindings in the file.
  func restoreStorage(of binding: BindingTriggers, in installed: InstalledObjects) throws {
    let storage = Set(binding.storage.map(\.identity))
    let plan = SchemaPlan(from: binding.storage, to: installed) { storage.contains($0.identity) }
    guard !plan.isEmpty else { return }
    try apply(plan)
    try binding.fillStorage(on: connection)
  }

  /// Drops every trigger of the journal, because SQLite allows some table changes only without
  /// triggers. Reconciling the journal recreates them and records a gap.
  func suspendJournal() throws {
    try apply(SchemaPlan(dropped: try InstalledObjects.ofJournal(in: connection).objects))
  }
}
