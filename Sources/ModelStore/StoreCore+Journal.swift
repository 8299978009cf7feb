// What other connections do to the file, and what the file says of it.
extension StoreCore {
  /// Announces what other connections have committed since this store last looked: exactly, where
  /// the change journal tells; otherwise observers look anew.
  ///
  /// - Precondition: A transaction is open on the writer's connection.
  func announceForeignCommit(_ writer: inout Writer) {
    // What observers read may not be cut short: they could not follow then.
    self.writer.shield()
    defer {
      self.writer.unshield()
      journalListeners.ring()
    }
    let observed = broker.interests().keys
    let models = models.schema.models.filter { $0.kind == .table && observed.contains($0.name) }
    let access = TransactionAccess(
      connection: writer.connection, models: self.models, capture: nil, isWritable: false)
    var announcement = ChangeBroker.Announcement.reset
    do {
      if try !writer.knowsSchema() {
        // What comes after can be told exactly again.
        try reloadSchema(&writer)
        try writer.passJournal()
      } else if let news = try writer.foreignNews(
        of: models, newest: { try access.record($0, key: $1)?.values })
      {
        announcement = ChangeBroker.Announcement(
          changes: news.changes, resetModels: news.resetModels)
      }
    } catch {
      // The commit is noticed only once: whatever cannot be told of it, observers look anew.
      report(StoreError(reporting: self.models.storeError(error, about: nil)))
    }
    broker.publish(announcement)
  }

  /// Tells observers what other connections wrote, and has those look again who could not before.
  func publishWhatOthersDid(_ writer: inout Writer) throws {
    try atToldState(&writer) { _ in }
  }

  /// Tells observers what other connections wrote, then runs `body` in the same state of the store:
  /// it sees what they were told of, and nothing that they were not.
  ///
  /// - Parameter body: Reads, and does not write.
  func atToldState<Result>(
    _ writer: inout Writer, _ body: (Writer) throws -> Result
  ) throws -> Result {
    let connection = writer.connection
    try connection.withStatement("BEGIN") { try $0.run() }
    do {
      try tellWhatOthersDid(&writer)
      let result = try body(writer)
      try connection.withStatement("COMMIT") { try $0.run() }
      return result
    } catch {
      throw writer.noting(connection.rollBack(after: error))
    }
  }

  /// - Precondition: A transaction is open on the writer's connection.
  func tellWhatOthersDid(_ writer: inout Writer) throws {
    if try writer.noticeForeignCommit() {
      announceForeignCommit(&writer)
    } else if broker.hasFailed {
      broker.publish(.nothing)
    }
  }

  /// Tells observers to look anew after something that nobody captured.
  func announceReset(_ writer: inout Writer) {
    defer { journalListeners.ring() }
    let connection = writer.connection
    do {
      try connection.withStatement("BEGIN") { try $0.run() }
      // What others did until now is seen with it.
      _ = try writer.noticeForeignCommit()
      try writer.passJournal()
      broker.publish(.reset)
      try connection.withStatement("COMMIT") { try $0.run() }
    } catch {
      report(
        StoreError(
          reporting: models.storeError(
            writer.noting(connection.rollBack(after: error)), about: nil)))
      broker.publish(.reset)
    }
  }

  /// Reads the state of which observers are being told, on the committing thread. Others may have
  /// committed since; that is not seen.
  func readTold<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try writer.inside(body)
  }

  // Turning it on and off

  /// Enters the changes of declared models in the journal as the configuration asks, and those of
  /// the others as the file says.
  func installJournal(_ declarations: Declarations, on connection: Connection) throws {
    let detail = declarations.changeJournal
    let layouts = try JournalLayouts(reading: connection)
    guard let layouts, detail != nil || !layouts.current.isEmpty else { return }
    func installation(_ layouts: JournalLayouts) throws -> JournalInstallation {
      let models = try knownModels(on: connection, declaring: declarations.models)
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
    try connection.inTransaction {
      // Another process may have been faster, or asked for more.
      guard var layouts = try JournalLayouts(reading: connection) else { return }
      let installation = try installation(layouts)
      if !installation.isInstalled(layouts) { try installation.apply(&layouts, on: connection) }
    }
  }

  /// How the journal stands before something else in the file is changed; nil when there is none.
  ///
  /// - Precondition: A write transaction is open.
  func journalStanding(on connection: Connection) throws -> JournalStanding? {
    try JournalStanding(
      reading: connection, models: try knownModels(on: connection, declaring: []))
  }

  /// Brings the journal's triggers in line with tables that have changed.
  ///
  /// - Parameter standing: How they stood when the transaction began; nil when nobody knows.
  /// - Precondition: A write transaction is open.
  func alignJournal(keeping standing: JournalStanding?, on connection: Connection) throws {
    try changeJournal(keeping: standing, on: connection) { _, _ in }
  }

  /// Enters other changes than before.
  ///
  /// - Parameters:
  ///   - standing: As for ``alignJournal(keeping:on:)``.
  ///   - isPreview: Whether the file may be one of an older library that has no journal yet: then
  ///     it is looked at only whether this would be refused.
  ///   - change: Given how much is entered of each model, and all models.
  /// - Precondition: A write transaction is open, and the store's own migrations were applied.
  func changeJournal(
    keeping standing: JournalStanding? = nil, isPreview: Bool = false, on connection: Connection,
    _ change: (inout [String: JournalDetail], [ModelSchema]) throws -> Void
  ) throws {
    let found = try JournalLayouts(reading: connection)
    guard var layouts = found ?? (isPreview ? JournalLayouts() : nil) else { return }
    let models = try knownModels(on: connection, declaring: [])
    var details = Self.details(layouts, in: models)
    try change(&details, models)
    let catalog = try Catalog(reading: connection)
    let installation = try JournalInstallation(details, in: models, catalog: catalog)
    guard found != nil, !installation.isInstalled(layouts) else { return }
    try installation.apply(&layouts, keeping: standing, on: connection)
  }

  /// How much is entered now of each of `models`.
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
