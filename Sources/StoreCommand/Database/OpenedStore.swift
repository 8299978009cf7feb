import ModelStore
import RecordFormats

/// A store and where it was found.
struct OpenedStore {
  private(set) var store: Store
  let location: DatabaseLocation
  /// Where the command reads its inputs, which must not be files of this store.
  var inputs: InputFiles
  /// The transaction that a session has begun, in which the command reads and writes.
  var transaction: HeldTransaction?
  /// Whether a session keeps the store open.
  var isKept = false
  /// nil for the store of a session that completes words.
  private(set) var opening: Opening?

  /// What the store was opened with.
  struct Opening {
    let declarations: Declarations
    let configuration: StoreConfiguration
    let report: @Sendable (StoreError) -> Void
  }

  init(store: Store, location: DatabaseLocation, inputs: InputFiles, opening: Opening? = nil) {
    self.store = store
    self.location = location
    self.inputs = inputs
    self.opening = opening
  }

  /// Whether the file is a member of a shared store.
  var isMember: Bool {
    get throws { try store.sharedStoreName() != nil }
  }

  /// Opens the store again, after it was closed.
  mutating func reopen(_ opening: Opening) throws {
    store = try Store(
      at: location.path, declaring: opening.declarations, configuration: opening.configuration,
      onError: opening.report)
  }

  /// Closes the store, unless a session keeps it open.
  func close() {
    if !isKept { store.close() }
  }

  /// The model called `name`.
  ///
  /// - Parameter declared: Models that an application would add to the file; near misses, too.
  /// - Throws: ``CommandError`` with near misses; it says when the database has no models at all,
  ///   or has a table of that name that was not adopted.
  func model(named name: String, orAmong declared: [String] = []) throws -> ModelSchema {
    if store.schema.contains(name) { return try store.schema.model(named: name) }
    let models = store.schema.models
    if let error = try store.unreadableEntries().first(where: { $0.model == name }) { throw error }
    let database = Shell.quoted(location.path)
    let tables = try store.adoptableTables()
    if let table = tables.first(where: { $0.name == name }) {
      throw CommandError(
        .notFound, code: "unknownModel",
        "\(name) is a table of the database and not yet a model"
          + (table.reason.map { "; it cannot be one: \($0)" } ?? "."),
        hint: table.schema.map { _ in "storecli adopt \(Shell.quoted(name)) -d \(database)" },
        model: name)
    }
    if models.isEmpty, declared.isEmpty {
      throw CommandError(
        .notFound, code: "unknownModel",
        "The database has no models yet, so it has no \(name).",
        hint: "storecli adopt -d \(database)", model: name)
    }
    let near = NearMiss.suggestions(for: name, among: models.map(\.name) + declared)
    throw CommandError(
      .notFound, code: "unknownModel", "There is no model \(name)" + CommandError.meant(near),
      hint: near.first.map { "storecli models \(Shell.quoted($0))" } ?? "storecli models",
      model: name)
  }

  /// Runs `body` on one state of the store.
  ///
  /// - Throws: As `Store.read`; a stored value that does not fit its field is a failure of the
  ///   file, not a refusal of what the command was given.
  func read<Result>(_ body: (borrowing ReadTransaction) throws -> Result) throws -> Result {
    if let transaction { return try Self.reading { try transaction.read(body) } }
    return try Self.reading { try store.read(body) }
  }

  /// Runs `body`, which only reads what is stored.
  ///
  /// - Throws: What `body` throws; a stored value that cannot be read fails with its record named.
  static func reading<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as StoreError where error.code == .invalidValue {
      throw CommandError(unreadable: error)
    }
  }

  /// What a transaction of `body` changes; a preview is rolled back.
  ///
  /// - Parameter onWarnings: Receives the broken rules that only warn, if the file has such rules.
  /// - Throws: What `body` throws. A value that does not fit is otherwise about what is stored,
  ///   which the store reads to find the changes: a failure of the file.
  func changes(
    mode: WriteMode, onWarnings: ((WarnedRecords) -> Void)? = nil,
    _ body: (borrowing WriteTransaction) throws -> Void
  ) throws -> ChangeSet {
    var isRefused = false
    func noting(_ transaction: borrowing WriteTransaction) throws {
      do {
        try body(transaction)
        // A session reviews its transaction as a whole.
        if let onWarnings, self.transaction == nil { transaction.reviewWarnings(onWarnings) }
      } catch {
        isRefused = true
        throw error
      }
    }
    do {
      if let transaction { return try transaction.changes(mode: mode, of: noting) }
      return try mode == .preview
        ? store.preview(noting).changes : store.writeReturningChanges(noting).changes
    } catch let error as StoreError where error.code == .invalidValue && !isRefused {
      throw CommandError(unreadable: error)
    }
  }

  /// Runs `body` as a transaction without returning its changes; a preview is rolled back.
  func write(mode: WriteMode, _ body: (borrowing WriteTransaction) throws -> Void) throws {
    struct Stop: Error {}
    if let transaction {
      _ = try transaction.changes(mode: mode, of: body)
      return
    }
    do {
      try store.write { transaction in
        try body(transaction)
        if mode == .preview { throw Stop() }
      }
    } catch is Stop {
      // Rolled back, as it should be.
    }
  }

  /// The model called `name`, for writing.
  ///
  /// - Throws: As ``model(named:)``; and for a model with validators in Swift, which only the
  ///   program that declares them can run, unless `options` skips these.
  func writableModel(named name: String, _ options: WriteOptions) throws -> ModelSchema {
    let model = try model(named: name)
    guard !options.skipCodeValidators else { return model }
    let validators = try missingValidators(of: name)
    guard validators.isEmpty else {
      throw CommandError(
        .rejected, code: "codeValidators",
        "\(name) has validators in Swift that only its own program can run: "
          + "\(validators.joined(separator: ", ")).",
        hint: "write through that program, or add --skip-code-validators", model: name)
    }
    return model
  }

  /// The names of the validators in Swift that judge records of a model, and that only another
  /// program can run.
  func missingValidators(of name: String) throws -> [String] {
    try store.declaredValidators().filter { !$0.isInForce && $0.models.contains(name) }
      .map(\.name)
  }
}

extension ModelSchema {
  /// The field called `name`.
  ///
  /// - Throws: ``CommandError`` with near misses.
  func requiredField(named name: String) throws -> FieldSchema {
    if let field = field(named: name) { return field }
    let near = NearMiss.suggestions(for: name, among: fields.map(\.name))
    throw CommandError(
      .usage, code: "unknownField", "\(self.name) has no field \(name)" + CommandError.meant(near),
      hint: "storecli models \(Shell.quoted(self.name))", model: self.name, field: name)
  }
}
