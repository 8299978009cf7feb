extension Store {
  /// The durable log of changes in the store's file.
  public var changeJournal: ChangeJournal { ChangeJournal(store: self) }
}

/// The durable log of changes in a store's file: every change by every program, in the order of
/// commits. It is not SQLite's rollback journal or write-ahead log, which are gone after a commit.
///
/// Triggers in the file write it, in the transaction of the change itself. So it also records
/// changes by the plain `sqlite3` shell, and nothing is missing after a crash. It is off by
/// default; see ``StoreConfiguration/changeJournal`` for turning it on when a program opens its
/// store.
///
/// This value represents the log. Call it from any thread; each call reads the file. It keeps the
/// store open.
public struct ChangeJournal: Sendable {
  let store: Store

  var engine: StoreEngine { get throws { try store.open } }

  /// Records the changes of models from now on, by every writer.
  ///
  /// If a model is recorded already in the same detail, nothing happens. Tables that the journal
  /// cannot hold, and models whose tables lack their columns, are left out unless you name them.
  /// ``ChangeJournal/status()`` returns what is recorded.
  ///
  /// - Parameters:
  ///   - detail: How much of each change is kept.
  ///   - models: Their names, which include the slots of their ordered lists. All tables when nil.
  ///   - mode: ``WriteMode/preview`` rolls back again, and throws the reason if it would be
  ///     refused.
  /// - Throws: ``StoreError`` with code `unknownModel`; `unsupportedSchema` for a view, and for a
  ///   key of more than 10 fields; `schemaMismatch` if the model's table, or a column of it, is not
  ///   in the file.
  /// - Complexity: O(models); no record is read.
  public func enable(
    _ detail: JournalDetail = .full, for models: [String]? = nil, mode: WriteMode = .commit
  ) throws {
    try engine.catalog.changing(mode: mode) { connection in
      let catalog = try Catalog(reading: connection)
      try engine.catalog.journal.change(mode: mode, on: connection) { details, known in
        let unfit = known.filter { !catalog.hasColumns(of: $0) }.map(\.name)
        for name in try Self.names(models, in: known)
        where models != nil || !unfit.contains(name) {
          details[name] = detail
        }
        // A model that is recorded already would be left unchanged.
        if let schema = known.first(where: { schema in
          models?.contains(schema.name) == true
            && !catalog.hasColumns(of: schema)
        }) {
          throw CompiledJournal.unfit(schema)
        }
      }
    }
  }

  /// Stops recording changes of the models. Recorded entries stay until they are trimmed.
  ///
  /// If you turn it on again, readers of the journal are notified that changes may be missing.
  ///
  /// - Parameters:
  ///   - models: Their names, which include the slots of their ordered lists. All when nil.
  ///   - mode: As for ``enable(_:for:mode:)``.
  /// - Throws: ``StoreError`` with code `unknownModel`.
  public func disable(for models: [String]? = nil, mode: WriteMode = .commit) throws {
    try engine.catalog.changing(mode: mode) { connection in
      try engine.catalog.journal.change(mode: mode, on: connection) { details, known in
        for name in try Self.names(models, in: known) { details[name] = nil }
      }
    }
  }

  /// Returns in how much detail each model is recorded, by the model's name. Models that are not
  /// recorded are left out.
  package func details() throws -> [String: JournalDetail] {
    try engine.connections.readers.sync { connection in
      let layouts = try JournalLayouts(reading: connection) ?? JournalLayouts()
      return layouts.current.compactMapValues { layouts.all[$0]?.detail }
    }
  }

  /// Returns the position of the newest entry; ``JournalPosition/start`` when there is none.
  public func position() throws -> JournalPosition {
    try engine.connections.readers.sync { connection in try Self.position(on: connection) }
  }

  /// Returns why the changes of some models cannot be recorded, by the model's name. Turning the
  /// journal on for all models leaves these out.
  ///
  /// - Throws: ``StoreError`` when the file cannot be read.
  public func refusals() throws -> [String: String] {
    let models = store.engine.models.schema.models
    return try engine.connections.readers.sync { connection in
      let catalog = try Catalog(reading: connection)
      var refusals: [String: String] = [:]
      for model in models {
        refusals[model.name] =
          JournalLayout.refusal(of: model)
          ?? (catalog.hasColumns(of: model)
            ? nil : "its table has changed; refresh the model first")
      }
      return refusals
    }
  }

  static func position(on connection: Connection) throws -> JournalPosition {
    try JournalReader.end(on: connection).map { JournalPosition(rawValue: $0) } ?? .start
  }

  /// Returns the position of the `count`th entry row after `start`, or `end` when there are fewer
  /// up to there. Such a page of the journal has `count` rows, even if there are gaps between
  /// positions.
  ///
  /// - Complexity: O(`count`).
  package func place(
    ofEntry count: Int, after start: JournalPosition, through end: JournalPosition
  ) throws -> JournalPosition {
    let (near, isTooLarge) = start.rawValue.addingReportingOverflow(Int64(count))
    if isTooLarge || near >= end.rawValue { return end }
    return try engine.connections.readers.sync { connection in
      guard try JournalLayouts(reading: connection) != nil else { return end }
      return JournalPosition(
        rawValue: try JournalReader.place(
          ofRow: Int64(count), behind: start.rawValue, upTo: end.rawValue, on: connection))
    }
  }

  /// Returns the contents of the row at `position`; nil if no row exists there.
  ///
  /// - Complexity: One seek.
  package func row(at position: JournalPosition) throws -> [SQLValue]? {
    try engine.connections.readers.sync { connection in
      guard try JournalLayouts(reading: connection) != nil else { return nil }
      return try JournalReader.row(at: position.rawValue, on: connection)
    }
  }

  /// Returns the names of the models called `names` and of the slots of their lists.
  private static func names(_ names: [String]?, in models: [ModelSchema]) throws -> [String] {
    guard let names else {
      return models.filter { JournalLayout.refusal(of: $0) == nil }.map(\.name)
    }
    let known = Dictionary(models.map { ($0.name, $0) }) { first, _ in first }
    let refused = Set(models.filter { JournalLayout.refusal(of: $0) != nil }.map(\.name))
    return try names.flatMap { name in
      guard let model = known[name] else {
        throw StoreError(
          .unknownModel, "\(name) is not a model of this store.", model: name)
      }
      let slots = model.lists.map { $0.slotModelName(of: model) }
      return [name] + slots.filter { known[$0] != nil && !refused.contains($0) }
    }
  }
}
