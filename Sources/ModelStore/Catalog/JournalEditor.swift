/// Changes which models the file's change journal records, and brings its triggers in line.
struct JournalEditor {
  let schema: CurrentSchema

  /// Records the changes of declared models as the configuration asks, and the changes of
  /// the others as the file says. In a transaction of its own, unless one is open.
  func install(_ declarations: Declarations, on connection: Connection) throws {
    let detail = declarations.changeJournal
    let layouts = try JournalLayouts(reading: connection)
    guard let layouts, detail != nil || !layouts.current.isEmpty else { return }
    func installation(_ layouts: JournalLayouts) throws -> JournalInstallation {
      let models = try schema.filed(on: connection, declaring: declarations.models)
      var details = Self.details(layouts, in: models)
      if let detail {
        for model in declarations.models where model.kind == .table && !model.hasHiddenRowID {
          details[model.name] = detail
        }
      }
      return try JournalInstallation(
        details, in: models, catalog: try Catalog(reading: connection))
    }
    guard try !installation(layouts).isInstalled(layouts) else { return }
    func apply() throws {
      // Another process may have been faster, or asked for more.
      guard var layouts = try JournalLayouts(reading: connection) else { return }
      let installation = try installation(layouts)
      if !installation.isInstalled(layouts) { try installation.apply(&layouts, on: connection) }
    }
    try connection.isInTransaction ? apply() : connection.inTransaction(apply)
  }

  /// How the journal stands before something else in the file is changed; nil when there is none.
  ///
  /// - Precondition: A write transaction is open.
  func standing(on connection: Connection) throws -> JournalStanding? {
    try JournalStanding(
      reading: connection, models: try schema.filed(on: connection))
  }

  /// Brings the journal's triggers in line with tables that have changed.
  ///
  /// - Parameter standing: How they stood when the transaction began; nil when that is unknown.
  /// - Precondition: A write transaction is open.
  func align(keeping standing: JournalStanding?, on connection: Connection) throws {
    try change(keeping: standing, on: connection) { _, _ in }
  }

  /// Enters other changes than before.
  ///
  /// - Parameters:
  ///   - standing: As for ``align(keeping:on:)``.
  ///   - isPreview: Whether the file may be one of an older library that has no journal yet: then
  ///     it is looked at only whether this would be refused.
  ///   - edit: Given how much is recorded of each model, and all models.
  /// - Precondition: A write transaction is open, and the store's own migrations were applied.
  func change(
    keeping standing: JournalStanding? = nil, isPreview: Bool = false, on connection: Connection,
    _ edit: (inout [String: JournalDetail], [ModelSchema]) throws -> Void
  ) throws {
    let found = try JournalLayouts(reading: connection)
    guard var layouts = found ?? (isPreview ? JournalLayouts() : nil) else { return }
    let models = try schema.filed(on: connection)
    var details = Self.details(layouts, in: models)
    try edit(&details, models)
    let catalog = try Catalog(reading: connection)
    let installation = try JournalInstallation(details, in: models, catalog: catalog)
    guard found != nil, !installation.isInstalled(layouts) else { return }
    try installation.apply(&layouts, keeping: standing, on: connection)
  }

  /// How much is recorded now of each of `models`.
  private static func details(
    _ layouts: JournalLayouts, in models: [ModelSchema]
  ) -> [String: JournalDetail] {
    var details: [String: JournalDetail] = [:]
    for model in models where JournalLayout.refusal(of: model) == nil {
      details[model.name] = layouts.layout(of: model.name)?.detail
    }
    return details
  }
}
