extension Store {
  /// The durable log of changes in the store's file.
  public var changeJournal: ChangeJournal { ChangeJournal(store: self) }
}

/// The durable log of changes in a store's file: what every program changed, in the order of
/// commits. Not SQLite's rollback journal or write-ahead log, which are gone after a commit.
///
/// Triggers in the file fill it, in the transaction of the change itself, so that the plain
/// `sqlite3` shell is heard too and nothing is missing after a crash. It is off until somebody
/// turns it on; see ``StoreConfiguration/changeJournal`` for doing so when a program opens its
/// store.
///
/// A value that stands for the log; all calls may be made from any thread, and each reads the file.
/// It keeps the store open.
public struct ChangeJournal: Sendable {
  let store: Store

  var engine: StoreEngine { get throws { try store.open } }

  /// Enters the changes of models from now on, by every writer.
  ///
  /// Where something is entered already, in the same detail, nothing happens. Tables that the
  /// journal cannot hold, and models whose tables lack their columns, are left out unless they are
  /// asked for by name; ``details()`` tells of
  /// which models something is entered.
  ///
  /// - Parameters:
  ///   - detail: How much of each change is kept.
  ///   - models: Their names; the slots of their ordered lists come along. All tables when nil.
  ///   - mode: ``WriteMode/preview`` rolls it back again and tells why it would be refused.
  /// - Throws: ``StoreError`` with code `unknownModel`; `unsupportedSchema` for a view, and for a
  ///   key of more than 10 fields; `schemaMismatch` where the model's table, or a column of it, is
  ///   not in the file.
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
        // One that is on already would be let alone.
        if let schema = known.first(where: { schema in
          models?.contains(schema.name) == true
            && !catalog.hasColumns(of: schema)
        }) {
          throw CompiledJournal.unfit(schema)
        }
      }
    }
  }

  /// Enters the changes of models no more. What was entered stays until it is trimmed.
  ///
  /// Readers of the journal are told that changes may be missing when it is turned on again.
  ///
  /// - Parameters:
  ///   - models: Their names; the slots of their ordered lists come along. All when nil.
  ///   - mode: As for ``enable(_:for:mode:)``.
  /// - Throws: ``StoreError`` with code `unknownModel`.
  public func disable(for models: [String]? = nil, mode: WriteMode = .commit) throws {
    try engine.catalog.changing(mode: mode) { connection in
      try engine.catalog.journal.change(mode: mode, on: connection) { details, known in
        for name in try Self.names(models, in: known) { details[name] = nil }
      }
    }
  }

  /// How much is entered of each model's changes, by the model's name; without those of which
  /// nothing is.
  package func details() throws -> [String: JournalDetail] {
    try engine.connections.readers.sync { connection in
      let layouts = try JournalLayouts(reading: connection) ?? JournalLayouts()
      return layouts.current.compactMapValues { layouts.all[$0]?.detail }
    }
  }

  /// The position of the newest entry; ``JournalPosition/start`` when there is none.
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

  /// The position of the entry row that is the `count`th behind `start`, or `end` when there are
  /// fewer up to there: a page of the journal, however far apart its positions are.
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

  /// What stands in the row at `position`; nil where none is: trimmed, before the first, or without
  /// a journal.
  ///
  /// - Complexity: One seek.
  package func row(at position: JournalPosition) throws -> [SQLValue]? {
    try engine.connections.readers.sync { connection in
      guard try JournalLayouts(reading: connection) != nil else { return nil }
      return try JournalReader.row(at: position.rawValue, on: connection)
    }
  }

  /// The models called `names` and the slots of their lists.
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
