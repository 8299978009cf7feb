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
  init(
    _ schemas: [BindingSchema], in models: [ModelSchema],
    generated: GeneratedColumns = GeneratedColumns(), uniqueSets: UniqueSets = UniqueSets()
  ) throws(StoreError) {
    bindings = try ResolvedBinding.inDependencyOrder(schemas, in: models, generated: generated)
      .map { binding in
        var binding = binding
        binding.uniqueSets = uniqueSets
        return BindingTriggers(binding)
      }
  }

  /// As ``init(_:in:generated:uniqueSets:)``, with the generated columns and indexes of the file.
  init(
    _ schemas: [BindingSchema], in models: [ModelSchema], on connection: Connection
  ) throws {
    try self.init(
      schemas, in: models,
      generated: schemas.isEmpty
        ? GeneratedColumns() : GeneratedColumns(of: models, on: connection),
      uniqueSets: schemas.isEmpty ? UniqueSets() : UniqueSets(on: connection))
  }

  private init(_ bindings: [BindingTriggers]) {
    self.bindings = bindings
  }

  func keeping(
    _ isKept: (BindingTriggers) throws -> Bool
  ) rethrows -> BindingInstallation {
    BindingInstallation(try bindings.filter(isKept))
  }

  /// What must happen to the file's objects. A pure comparison.
  struct Difference: Hashable, Sendable {
    var objects = SchemaPlan()
    /// The declared bindings that any of this is about, in dependency order.
    var changed: [String] = []
    /// Bindings that only the file has, in name order.
    var undeclared: [String] = []

    var isEmpty: Bool { objects.isEmpty }
  }

  /// - Parameter found: What bindings have in the file.
  func difference(from found: InstalledObjects) -> Difference {
    var difference = Difference()
    for binding in bindings {
      let drift = SchemaPlan(from: binding.objects, to: found) {
        Self.name($0.name, isOf: binding)
      }
      difference.objects.dropped += drift.dropped
      difference.objects.created += drift.created
      if !drift.isEmpty { difference.changed.append(binding.binding.name) }
    }
    let declared = Set(bindings.map(\.binding.name))
    difference.undeclared = Set(
      found.objects.compactMap { BindingTriggers.bindingName(ofTrigger: $0.name) }
    ).subtracting(declared).sorted()
    return difference
  }

  /// What is wrong with the triggers in the file and with the values they keep, by the order of
  /// ``bindings``; bindings that only the file has follow, by name.
  func findings(on connection: Connection, keyCountMax: Int) throws -> [BindingFinding] {
    let found = try Self.objects(in: connection)
    let difference = difference(from: found)
    let wrong = (difference.objects.dropped + difference.objects.created).map(\.name)
    var unread: Set<String> = []
    let declared = try bindings.map { binding in
      var objects = Set(wrong.filter { Self.name($0, isOf: binding) })
      // What is kept in a table that is not there cannot be compared, nor what only another program
      // can compute.
      guard binding.hasStorage(in: found), try binding.missingFunction(on: connection) == nil
      else {
        return BindingFinding(
          binding: binding.binding.name, triggers: objects.sorted(), recordCount: 0, keys: [],
          isCompared: false)
      }
      if let problem = try binding.namingProblem(on: connection) {
        // Others are to be told too.
        let all = objects.isEmpty ? Set(binding.objects.map(\.name)) : objects
        return BindingFinding(
          binding: binding.binding.name, triggers: all.sorted(), recordCount: 0, keys: [],
          isCompared: false, obstacle: BindingFinding.Obstacle(problem))
      }
      do {
        if let table = binding.auditedTable, try binding.isStorageWrong(on: connection) {
          objects.insert(table)
        }
        let count = try binding.driftingRecordCount(on: connection)
        return BindingFinding(
          binding: binding.binding.name, triggers: objects.sorted(), recordCount: count,
          keys: count == 0 ? [] : try binding.driftingKeys(keyCountMax, on: connection))
      } catch let error as SQLiteError where error.concernsOneBinding {
        // The other bindings are compared all the same.
        unread.insert(binding.binding.name)
        return BindingFinding(
          binding: binding.binding.name, triggers: objects.sorted(), recordCount: 0, keys: [],
          isCompared: false, obstacle: BindingFinding.Obstacle(error))
      }
    }
    let undeclared = difference.undeclared.map { name in
      BindingFinding(
        binding: name,
        triggers: found.objects.map(\.name)
          .filter { BindingTriggers.bindingName(ofTrigger: $0) == name }.sorted(),
        recordCount: 0, keys: [])
    }
    return declared.filter {
      !$0.triggers.isEmpty || $0.recordCount > 0 || unread.contains($0.binding)
    } + undeclared
  }

  private static func name(_ trigger: String, isOf binding: BindingTriggers) -> Bool {
    BindingTriggers.bindingName(ofTrigger: trigger) == binding.binding.name
  }

  /// The triggers, tables and indexes of bindings in the file, by name.
  static func objects(in connection: Connection) throws -> InstalledObjects {
    try InstalledObjects(namedWith: [BindingTriggers.namePrefix], in: connection)
  }

  /// The bindings by which values come into `columns`, sources before what follows them: their own
  /// and, before those, the ones of all columns that they depend on.
  func chain(into columns: Set<ResolvedBinding.Column>) -> [BindingSchema] {
    var wanted = columns
    var chain: [BindingSchema] = []
    // Both ends of a two-way binding come from each other, so one pass back is not enough.
    var isGrowing = true
    while isGrowing {
      isGrowing = false
      for binding in bindings
      where !wanted.isDisjoint(with: binding.flow.targets) && !chain.contains(binding.binding) {
        chain.append(binding.binding)
        wanted.formUnion(binding.flow.origins.union(binding.flow.targets))
        isGrowing = true
      }
    }
    return bindings.map(\.binding).filter(chain.contains)
  }

  /// Makes the file's triggers those of ``bindings`` and puts the records of every new or changed
  /// binding right, sources before what follows them.
  ///
  /// - Parameter onProgress: Called with records looked at and all that are to be, for each of the
  ///   bindings anew.
  /// - Returns: The new and changed bindings, in dependency order.
  /// - Throws: ``SQLiteError`` from SQLite, ``StoreError`` when an expression is refused or records
  ///   do not take their value. The caller rolls back.
  /// - Precondition: A write transaction is open, and the models' tables exist.
  /// - Complexity: One pass over the targets' table for each new or changed binding.
  func apply(
    to connection: Connection,
    onProgress: (_ done: Int, _ all: Int) throws -> Void = { _, _ in }
  ) throws -> [Synchronised] {
    precondition(connection.isInTransaction, "Bindings are installed inside a transaction.")
    let found = try Self.objects(in: connection)
    // What this program cannot compute is left to one that can.
    let difference = try keeping { try $0.missingFunction(on: connection) == nil }
      .difference(from: found)
    guard !difference.isEmpty else { return [] }
    let changed = bindings.filter { difference.changed.contains($0.binding.name) }
    for binding in changed {
      try binding.checkExpressions(on: connection)
      try binding.checkFinders(on: connection)
    }
    try SchemaObject.drop(difference.objects.dropped, from: connection)
    for object in difference.objects.created where object.kind != .trigger {
      try connection.execute(object.sql)
    }
    for binding in changed { try binding.checkNames(on: connection) }
    let synchronised = try changed.map { binding in
      Synchronised(
        binding: binding.binding.name,
        recordCount: try binding.synchronise(on: connection, onProgress: onProgress))
    }
    // SQLite promises no order but runs the youngest trigger first, so the sources' go last here:
    // what follows them is then computed once. Nothing but the saved work depends on it.
    for object in difference.objects.created.reversed() where object.kind == .trigger {
      try connection.execute(object.sql)
    }
    // A trigger of the application may have answered the synchronisation with changes of its own.
    for binding in changed where try binding.driftingRecordCount(on: connection) > 0 {
      throw StoreError(
        .unsupportedSchema,
        "The binding \(binding.binding.name) cannot be kept: \(binding.binding.target) does not "
          + "keep the value that it is given. A trigger changes it, or the column cannot hold it, "
          + "such as a whole number beyond 2^53 in a REAL one. Remove the trigger, or derive what "
          + "the column can hold.",
        model: binding.binding.target.model, field: binding.binding.target.field)
    }
    return synchronised
  }

  /// Drops everything that keeps the binding called `name`. Bound fields keep the values they have.
  ///
  /// - Returns: Whether the file had such a binding.
  static func remove(_ name: String, from connection: Connection) throws -> Bool {
    let found = try objects(in: connection).objects
      .filter { BindingTriggers.bindingName(ofTrigger: $0.name) == name }
    try SchemaObject.drop(found, from: connection)
    return !found.isEmpty
  }
}

extension BindingTriggers {
  /// Puts every record right that is not.
  ///
  /// - Parameters:
  ///   - stepRowCount: The most records that one statement looks at.
  ///   - onProgress: Called before each statement and after the last one, with records looked at
  ///     and all that are to be.
  /// - Returns: How many were not right.
  func synchronise(
    on connection: Connection, stepRowCount: Int = 16_384,
    onProgress: (_ done: Int, _ all: Int) throws -> Void = { _, _ in }
  ) throws -> Int {
    for sql in clearings { try connection.run(SQLText(sql: sql)) }
    let counts = try passes.map { pass in
      try count("SELECT count(*) FROM \(SQLText.quoted(pass.model.table))", on: connection)
    }
    let all = counts.reduce(0, +)
    var earlier = 0
    var changeCount = 0
    for (pass, count) in zip(passes, counts) {
      changeCount = try pass.run(on: connection, stepRowCount: stepRowCount) { done in
        try onProgress(earlier + min(done, count), all)
      }
      earlier += count
      try checkTotals(on: connection)
    }
    try onProgress(all, all)
    return changeCount
  }

  /// Where values are no whole numbers, or sums of steps too large, SQLite goes on with reals.
  private func checkTotals(on connection: Connection) throws {
    guard let table = auditedTable.map(SQLText.quoted),
      try count(
        "SELECT EXISTS (SELECT 1 FROM \(table) WHERE typeof(total) <> 'integer')", on: connection)
        > 0
    else { return }
    throw refusal(
      "a sum of the records that are there is no whole number of 64 bits. Correct their values.")
  }

  /// How many records do not hold their right value.
  func driftingRecordCount(on connection: Connection) throws -> Int {
    try count(driftCount, on: connection)
  }

  func driftingKeys(_ countMax: Int, on connection: Connection) throws -> [[SQLValue]] {
    try connection.rows(SQLText(sql: driftKeys, arguments: [.integer(Int64(countMax))])) { row in
      try row.values()
    }
  }

  /// How many records a two-way binding would bring back changed.
  func lossyRecordCount(on connection: Connection) throws -> Int {
    guard let lossCount else { return 0 }
    return try count(lossCount, on: connection)
  }

  func isStorageWrong(on connection: Connection) throws -> Bool {
    guard let storageAudit else { return false }
    return try count("SELECT EXISTS (\(storageAudit))", on: connection) > 0
  }

  /// What SQLite says of a table or column that the binding names and the file does not have under
  /// that name; nil when it finds them all.
  func namingProblem(on connection: Connection) throws -> SQLiteError? {
    for sql in [driftCount, storageAudit].compactMap(\.self) {
      if let problem = try connection.compilationError(of: sql) { return problem }
    }
    return nil
  }

  /// Whether the file has the tables that values are compared with; indexes only make it faster.
  func hasStorage(in found: InstalledObjects) -> Bool {
    storage.filter { $0.kind == .table }.allSatisfy(found.holds)
  }

  /// Makes what is missing of the binding's own tables and indexes, or is not as it must be, and
  /// fills the tables, so that triggers that are there find in them what they add to and take from.
  ///
  /// - Parameter found: What bindings have in the file.
  func restoreStorage(besides found: InstalledObjects, on connection: Connection) throws {
    let missing = storage.filter { !found.holds($0) }
    guard !missing.isEmpty else { return }
    try SchemaObject.drop(missing.compactMap { found[$0.identity] }, from: connection)
    for object in missing { try connection.execute(object.sql) }
    for sql in clearings { try connection.run(SQLText(sql: sql)) }
    for pass in passes.dropLast() {
      _ = try pass.run(on: connection, stepRowCount: 16_384) { _ in }
    }
  }

  private func count(_ sql: String, on connection: Connection) throws -> Int {
    Int(try connection.firstRow(SQLText(sql: sql)) { row in try row.integer(at: 0) } ?? 0)
  }

  /// A function that the binding calls and that `connection` does not have.
  func missingFunction(on connection: Connection) throws -> String? {
    guard let functions = binding.functions else { return nil }
    let known = Set(
      try connection.rows("SELECT DISTINCT lower(name) FROM pragma_function_list") { row in
        try row.text(at: 0)
      })
    return functions.first { !known.contains($0) }
  }

  /// Asks SQLite whether it accepts the expressions where only what every writer has is allowed,
  /// and what the binding says that it calls.
  ///
  /// - Throws: ``StoreError`` with code `unsupportedSchema` and SQLite's reason.
  func checkExpressions(on connection: Connection) throws {
    let allowed = Set(binding.functions ?? [])
    let called = Set(expressions.flatMap(\.expression.calledNames))
    if let name = allowed.subtracting(called).min() {
      throw refusal("it does not call the function \(name). Leave it out of calling(_:).")
    }
    try translating {
      for expression in expressions {
        try expression.expression.probe(in: expression.model, on: connection)
        if let name = try expression.expression.registeredFunction(
          on: connection, besides: allowed)
        {
          throw refusal(
            "other writers do not have the function \(name). Use functions built into SQLite. Or "
              + "say by calling(_:) that only programs which have it may write.")
        }
      }
    }
  }

  /// Asks SQLite whether at most one record is found where there must be only one.
  func checkFinders(on connection: Connection) throws {
    for finder in finders {
      if let problem = try finder.problem(on: connection) { throw refusal(problem) }
    }
  }

  /// Asks SQLite whether it finds every table and column.
  func checkNames(on connection: Connection) throws {
    // CREATE TRIGGER takes a body that names what is not there; it fails when it fires:
    // https://sqlite.org/lang_createtrigger.html
    try translating { try connection.withStatement(driftCount) { _ in } }
  }

  private func translating(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as SQLiteError {
      throw refusal("SQLite says: \(error.message). Check the names and the expression.")
    }
  }

  private func refusal(_ reason: String) -> StoreError {
    StoreError(
      .unsupportedSchema, "The binding \(binding.name) cannot be kept: \(reason)",
      model: binding.target.model, field: binding.target.field)
  }
}

extension SQLiteError {
  /// Whether reading failed because of what one binding reads, so that others can be read.
  var concernsOneBinding: Bool { isAboutMissingObject || code.primary == .tooBig }
}
