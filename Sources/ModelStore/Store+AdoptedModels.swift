// Adopted models whose tables change.
extension Store {
  /// Returns how adopted models differ from their tables: another program may have added, renamed
  /// or dropped columns, or the table itself.
  ///
  /// A store compares them when it is opened, and reports what differs once to `onError` with code
  /// `outdatedModel`. Opening never fails because of it, and the models stay as they are until
  /// ``refreshAdopted(_:mode:)``.
  ///
  /// - Returns: One value for each model that differs, in the order of names; its owner is
  ///   ``SchemaDrift/Owner/model(_:)``, and every difference has a sentence.
  /// - Complexity: Reads the file's schema and no record.
  public func adoptedDrift() throws -> [SchemaDrift] {
    try open.catalog.adoptedDrift()
  }

  /// Brings adopted models up to date with their tables, in one transaction: the catalog, the
  /// layout of the change journal, and the triggers of bindings, rules and the journal.
  ///
  /// New columns become fields, with types as ``adoptableTables()`` decides them. Columns that are
  /// gone leave the model. A column that remains keeps its type, unless the column is declared with
  /// another type now and the type of the field was not chosen with ``adopt(_:types:)``. A model
  /// whose table is gone, or can no longer be a model, leaves the store with its own bindings and
  /// rules. SQLite does not record a renaming. So a renamed column is one that is gone and one that
  /// is new, and so is a renamed table.
  ///
  /// ```swift
  /// for drift in try store.refreshAdopted(mode: .preview) {
  ///   print(drift.owner.name, drift.sentences)
  /// }
  /// try store.refreshAdopted()
  /// ```
  ///
  /// Stores that are open keep the fields of their models. Close and open a store to use the new
  /// fields; this one, too.
  ///
  /// - Parameters:
  ///   - names: The models; nil for all adopted models.
  ///   - mode: ``WriteMode/preview`` only reports what would be written.
  /// - Returns: How the models differed from their tables, in the order of names.
  /// - Throws: ``StoreError`` with code `unknownModel`; `unsupportedSchema` for a model that a
  ///   program declares in Swift, and when a binding or rule needs a column or table that is gone:
  ///   drop it first; `configurationConflict` for a model whose table is gone and that is observed
  ///   in this process: end the observation first. Then nothing was changed.
  /// - Complexity: Reads the file's schema, and rows of tables with new columns as
  ///   ``adoptableTables()`` does.
  @discardableResult
  public func refreshAdopted(
    _ names: [String]? = nil, mode: WriteMode = .commit
  ) throws -> [SchemaDrift] {
    try modelRefreshes(names, mode: mode).map(\.drift)
  }

  /// As ``refreshAdopted(_:mode:)``, with what becomes of each model.
  package func modelRefreshes(
    _ names: [String]? = nil, mode: WriteMode = .commit
  ) throws -> [ModelRefresh] {
    try open.catalog.refreshAdopted(names, mode)
  }

  /// Undoes adoption: removes the models' entries from the catalog, with their bindings, added
  /// rules and lists, and the triggers of the change journal. Tables and rows stay as they are.
  ///
  /// Entries of the journal about these models stay as long as other models remain. With the last
  /// model the store's own tables go, and the file's schema is what it was before adoption. The
  /// file keeps its write-ahead log.
  ///
  /// - Parameters:
  ///   - names: The models; nil for all adopted models.
  ///   - policy: What to do when bindings, rules, validators or lists of other models need these,
  ///     or when the change journal goes with its entries and consumers.
  ///   - mode: ``WriteMode/preview`` only reports what would be removed.
  /// - Returns: What is removed.
  /// - Throws: ``StoreError`` with code `unknownModel`; `unsupportedSchema` for a model that a
  ///   program declares in Swift or that holds the places of a list; `conflict` when something else
  ///   needs the models or would be lost, and `policy` refuses that; `configurationConflict` for a
  ///   model that is observed in this process. Then nothing was changed.
  @discardableResult
  package func leave(
    _ names: [String]? = nil, losing policy: LossPolicy = .refuse,
    mode: WriteMode = .commit
  ) throws -> ModelDeparture {
    try open.catalog.leave(names, losing: policy, mode)
  }
}
