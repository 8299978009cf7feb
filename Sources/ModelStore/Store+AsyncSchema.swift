// Asynchronous forms of calls that change or check a file's models, bindings and rules.
//
// Parameters, results and errors are those of the synchronous forms. If you cancel the task, they
// throw `CancellationError`, and nothing was changed. `rebuildBindings()` may have corrected values
// by then.
extension Store {
  /// Returns the bindings that the file has, by name.
  public func bindings() async throws -> [BindingSchema] {
    try await open.readCalls.run { [self] in try bindings() }
  }

  /// Returns why parts of the file's catalog cannot be read.
  public func unreadableEntries() async throws -> [StoreError] {
    try await open.readCalls.run { [self] in try unreadableEntries() }
  }

  /// Returns every table and view that is not a model yet.
  public func adoptableTables() async throws -> [AdoptableTable] {
    try await open.readCalls.run { [self] in try adoptableTables() }
  }

  /// Makes tables of an existing database models of this store, and sets the types of fields.
  @discardableResult
  public func adopt(
    _ tables: [String]? = nil, types: [TypeChoice] = []
  ) async throws -> [ModelSchema] {
    try await open.calls.run { [self] in try adopt(tables, types: types) }
  }

  /// Makes the rows of a table of an existing database ordered lists.
  @discardableResult
  public func adopt(_ list: ListSchema, of owner: String) async throws -> ModelSchema {
    try await open.calls.run { [self] in try adopt(list, of: owner) }
  }

  /// Returns the differences between adopted models and their tables.
  public func adoptedDrift() async throws -> [SchemaDrift] {
    try await open.readCalls.run { [self] in try adoptedDrift() }
  }

  /// Brings adopted models up to date with their tables.
  @discardableResult
  public func refreshAdopted(
    _ names: [String]? = nil, mode: WriteMode = .commit
  ) async throws -> [SchemaDrift] {
    try await open.calls.run { [self] in try refreshAdopted(names, mode: mode) }
  }

  /// Adds a binding to the file.
  ///
  /// - Parameter onProgress: Called on a thread of the store.
  @discardableResult
  public func add(
    _ binding: FieldBinding, mode: WriteMode = .commit,
    onProgress: @escaping @Sendable (_ done: Int, _ all: Int) throws -> Void = { _, _ in }
  ) async throws -> Int {
    try await open.calls.run { [self] in
      try add(binding, mode: mode, onProgress: onProgress)
    }
  }

  /// Drops a binding.
  @discardableResult
  public func dropBinding(_ name: String, mode: WriteMode = .commit) async throws -> Int {
    try await open.calls.run { [self] in try dropBinding(name, mode: mode) }
  }

  /// Repairs the triggers and the values of every binding.
  @discardableResult
  public func rebuildBindings() async throws -> [(binding: String, recordCount: Int)] {
    try await open.calls.run { [self] in try rebuildBindings() }
  }

  /// Returns the bindings whose triggers or values differ from the file's catalog.
  public func bindingFindings(maxKeyCount: Int = 5) async throws -> [BindingFinding] {
    try await open.calls.run { [self] in try bindingFindings(maxKeyCount: maxKeyCount) }
  }

  /// Returns the rules that were added to the file's models, by name.
  public func rules() async throws -> [Rule] {
    try await open.readCalls.run { [self] in try rules() }
  }

  /// Returns the stored records that break `rule`; nil if none does.
  public func finding(of rule: Rule, maxKeyCount: Int = 5) async throws -> RuleFinding? {
    try await open.calls.run { [self] in try finding(of: rule, maxKeyCount: maxKeyCount) }
  }

  /// Adds a rule to the file, or replaces the rule of that name.
  @discardableResult
  public func add(
    _ rule: Rule, existingViolations: ExistingViolations = .refuse
  ) async throws -> RuleFinding? {
    try await open.calls.run { [self] in
      try add(rule, existingViolations: existingViolations)
    }
  }

  /// Drops a rule that was added.
  public func dropRule(_ name: String) async throws {
    try await open.calls.run { [self] in try dropRule(name) }
  }

  /// Creates the missing triggers and indexes of rules again.
  @discardableResult
  public func rebuildRules() async throws -> [SchemaDrift] {
    try await open.calls.run { [self] in try rebuildRules() }
  }

  /// Compares every stored record of `schema` with its rules.
  ///
  /// - Parameter onProgress: Called on a thread of the store.
  public func findings(
    in schema: ModelSchema, maxKeyCount: Int = 5,
    onProgress: @escaping @Sendable (_ done: Int, _ all: Int) throws -> Void = { _, _ in }
  ) async throws -> [RuleFinding] {
    try await open.calls.run { [self] in
      try findings(in: schema, maxKeyCount: maxKeyCount, onProgress: onProgress)
    }
  }

  /// Compares the tables, indexes and triggers of the file with the models and the catalog.
  public func schemaDrift() async throws -> [SchemaDrift] {
    try await open.readCalls.run { [self] in try schemaDrift() }
  }

  /// Returns how the application's tables, views, indexes and triggers differ from those of another
  /// file.
  public func schemaDifferences(from other: Store) async throws -> [String] {
    try await open.readCalls.run { [self] in try schemaDifferences(from: other) }
  }
}
