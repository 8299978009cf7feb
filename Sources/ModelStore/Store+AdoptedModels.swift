// Adopted models whose tables change.
extension Store {
  /// Returns how adopted models differ from their tables. Another program may have added, renamed
  /// or dropped columns, or the table itself.
  ///
  /// A store compares them when it is opened, and reports differences once to `onError` with code
  /// `outdatedModel`. Opening never fails because of them. The models stay as they are until you
  /// call ``refreshAdopted(_:mode:)``.
  ///
  /// - Returns: One value for each model that differs, ordered by name. Its owner is
  ///   ``SchemaDrift/Owner/model(_:)``, and each difference has a sentence.
  /// - Complexity: Reads the file's schema and no record.
  public func adoptedDrift() throws -> [SchemaDrift] {
    try open.catalog.adoptedDrift()
  }

  /// Brings adopted models up to date with their tables, in one transaction: the catalog, the
  /// layout of the change journal, and the triggers of bindings, rules and the journal.
  ///
  /// New columns become fields, with types as ``adoptableTables()`` decides them. Dropped columns
  /// leave the model. A remaining column keeps its type, except if its declared type changed and
  /// you have not chosen the field's type with ``adopt(_:types:)``. If the table is gone, or can no
  /// longer be a model, the model leaves the store with its bindings and rules. SQLite does not
  /// record that something was renamed. So a renamed column counts as one dropped and one new
  /// column, and the same is true for a renamed table.
  ///
  /// ```swift
  /// for drift in try store.refreshAdopted(mode: .preview) {
  ///   print(drift.owner.name, drift.sentences)
  /// }
  /// try store.refreshAdopted()
  /// ```
  ///
  /// Open stores keep the fields of their models. To use the new fields, close and open each store,
  /// including this one.
  ///
  /// - Parameters:
  ///   - names: The models; nil for all adopted models.
  ///   - mode: ``WriteMode/preview`` only reports what would be written.
  /// - Returns: How the models differed from their tables, ordered by name.
  /// - Throws: ``StoreError`` with code `unknownModel`; `unsupportedSchema` for a model that a
  ///   program declares in Swift, and when a binding or rule needs a column or table that is gone:
  ///   drop the binding or rule first; `configurationConflict` for a model whose table is gone and
  ///   that is observed in this process: end the observation first. Then nothing was changed.
  /// - Complexity: Reads the file's schema, and rows of tables with new columns as
  ///   ``adoptableTables()`` does.
  @discardableResult
  public func refreshAdopted(
    _ names: [String]? = nil, mode: WriteMode = .commit
  ) throws -> [SchemaDrift] {
    try modelRefreshes(names, mode: mode).map(\.drift)
  }

  /// As ``refreshAdopted(_:mode:)``, and returns what happens to each model.
  package func modelRefreshes(
    _ names: [String]? = nil, mode: WriteMode = .commit
  ) throws -> [ModelRefresh] {
    try open.catalog.refreshAdopted(names, mode)
  }

  /// Undoes adoption: removes the models' entries from the catalog, with their bindings, added
  /// rules and lists, and the triggers of the change journal. Tables and rows stay as they are.
  ///
  /// The journal keeps its entries about these models while other models remain. Leaving the last
  /// model also removes the store's own tables, and the file's schema is the same as before
  /// adoption. The file keeps its write-ahead log.
  ///
  /// - Parameters:
  ///   - names: The models; nil for all adopted models.
  ///   - policy: What to do when bindings, rules, validators or lists of other models need these
  ///     models, or when the change journal is removed with its entries and consumers.
  ///   - mode: ``WriteMode/preview`` only reports what would be removed.
  /// - Returns: What is removed.
  /// - Throws: ``StoreError`` with code `unknownModel`; `unsupportedSchema` for a model that a
  ///   program declares in Swift or that holds the slots of a list; `conflict` when something else
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
