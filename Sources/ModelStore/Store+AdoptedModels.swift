/// Whether a call that changes the file's catalog is kept.
public enum CatalogChange: Hashable, Sendable {
  /// It is committed.
  case commit
  /// It is reported and nothing is written.
  case dryRun
}

/// What ``Store/refreshAdopted(_:_:)`` does with one adopted model.
public struct ModelRefresh: Hashable, Sendable {
  /// The model's name.
  public let name: String
  /// The model as it is after the refresh; nil when it leaves the store, because its table is gone
  /// or can no longer be a model.
  public let schema: ModelSchema?
  /// How the table differs from the model before the refresh.
  public let drift: SchemaDrift
  /// What was decided about the types of new columns, in column order.
  public let decisions: [TypeDecision]
  /// What goes with a model that leaves the store: its bindings and added rules.
  public let removed: [ModelDependent]
  /// What keeps the model from being refreshed, because it needs what is gone. A dry run lists
  /// these; otherwise the refresh throws.
  public let dependents: [ModelDependent]
}

/// What ``Store/leave(_:losing:_:)`` removes from a file.
public struct ModelDeparture: Hashable, Sendable {
  /// The models that are no models any more, in the order of names. Their tables stay.
  public let models: [String]
  /// What goes along: bindings, rules and lists of these models and, where losses are accepted, of
  /// others that need them.
  public let removed: [ModelDependent]
  /// What others have that needs the models. A dry run lists it; otherwise `leave` throws, unless
  /// losses are accepted.
  public let dependents: [ModelDependent]
  /// How many entries the change journal loses; 0 while other models remain.
  public let lostEntryCount: Int
  /// The consumers of the change journal that go with it, by name.
  public let lostConsumers: [String]
  /// Whether the last model leaves, so that the store's own tables go.
  public let removesCatalog: Bool
}

/// Something in a file's catalog that needs a model.
public struct ModelDependent: Hashable, Sendable {
  /// What it is.
  public enum Kind: String, Hashable, Sendable {
    case binding
    /// A rule that was added to a model.
    case rule
    /// A rule in Swift, which only the program that declares it can do without.
    case validator
    /// An ordered list.
    case list
  }

  /// What it is.
  public let kind: Kind
  /// Its name; of a list with its owner: `Playlist.tracks`.
  public let name: String
  /// Why it needs the model, as a sentence.
  public let reason: String
}

/// What a call does that would lose more than it was asked to remove.
public enum LossPolicy: Hashable, Sendable {
  /// It throws and changes nothing.
  case refuse
  /// It removes that, too.
  case accept
}

// Adopted models whose tables change.
extension Store {
  /// Returns how adopted models differ from their tables: another program may have added, renamed
  /// or dropped columns, or the table itself.
  ///
  /// A store compares them when it is opened, and reports what differs once to `onError` with code
  /// `schemaMismatch`. Opening never fails because of it, and the models stay as they are until
  /// ``refreshAdopted(_:_:)``.
  ///
  /// - Returns: One value for each model that differs, in the order of names; its owner is
  ///   ``SchemaDrift/Owner/model(_:)``, and every difference has a sentence.
  /// - Complexity: Reads the file's schema and no record.
  public func adoptedDrift() throws -> [SchemaDrift] {
    try open.catalog.adoptedDrift()
  }

  /// Brings adopted models up to date with their tables, in one transaction: the catalog, the layout
  /// of the change journal, and the triggers of bindings, rules and the journal.
  ///
  /// New columns become fields, with types as ``adoptableTables()`` decides them. Columns that are
  /// gone leave the model. A column that remains keeps its type, unless the column is declared with
  /// another type now and the type of the field was not chosen with ``adopt(_:types:)``. A model
  /// whose table is gone, or can no longer be a model, leaves the store with its own bindings and
  /// rules. SQLite keeps no trace of a
  /// renaming, so a renamed column is one that is gone and one that is new, and so is a table.
  ///
  /// ```swift
  /// for refresh in try store.refreshAdopted(nil, .dryRun) {
  ///   print(refresh.name, refresh.drift.differences.compactMap(\.sentence))
  /// }
  /// try store.refreshAdopted()
  /// ```
  ///
  /// Stores that are open keep the fields of their models. Close and open a store to use the new
  /// fields; this one, too.
  ///
  /// - Parameters:
  ///   - names: The models; nil for all adopted models.
  ///   - change: Whether to write, or only to report what would be written.
  /// - Returns: The models that differ from their tables, in the order of names.
  /// - Throws: ``StoreError`` with code `unknownModel`; `unsupportedSchema` for a model that a
  ///   program declares in Swift, and when a binding or rule needs a column or table that is gone:
  ///   drop it first. Then nothing was changed.
  /// - Complexity: Reads the file's schema, and rows of tables with new columns as
  ///   ``adoptableTables()`` does.
  @discardableResult
  public func refreshAdopted(
    _ names: [String]? = nil, _ change: CatalogChange = .commit
  ) throws -> [ModelRefresh] {
    try open.catalog.refreshAdopted(names, change)
  }

  /// Undoes adoption: the models' entries leave the catalog, with their bindings, added rules and
  /// lists, and the triggers of the change journal. The tables and their rows stay as they are.
  ///
  /// Entries of the journal about these models stay as long as other models remain. With the last
  /// model the store's own tables go, and the file's schema is what it was before adoption. The file
  /// keeps its write-ahead log.
  ///
  /// - Parameters:
  ///   - names: The models; nil for all adopted models.
  ///   - policy: What to do when bindings, rules, validators or lists of other models need these, or
  ///     when the change journal goes with its entries and consumers.
  ///   - change: Whether to write, or only to report what would be removed.
  /// - Returns: What is removed.
  /// - Throws: ``StoreError`` with code `unknownModel`; `unsupportedSchema` for a model that a
  ///   program declares in Swift or that holds the places of a list; `conflict` when something else
  ///   needs the models or would be lost, and `policy` refuses that; `configurationConflict` for a
  ///   model that is observed in this process. Then nothing was changed.
  @discardableResult
  public func leave(
    _ names: [String]? = nil, losing policy: LossPolicy = .refuse,
    _ change: CatalogChange = .commit
  ) throws -> ModelDeparture {
    try open.catalog.leave(names, losing: policy, change)
  }
}
