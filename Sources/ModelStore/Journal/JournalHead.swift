/// The position of a store in its file's change journal.
struct JournalHead {
  /// Whether the changes of any model are recorded.
  let isActive: Bool
  /// The state of the models' triggers; nil until the first foreign commit is read.
  private var standing: Standing?
  /// The models in ``standing``; nil for all.
  private var covered: Set<String>?
  /// The recorded models whose triggers have drifted.
  let damaged: Set<String>
  /// The texts of their triggers that this library would write differently.
  let foreignTriggers: Set<String>
  /// The newest row whose change was published.
  var position: Int64

  /// The state of the models in the journal.
  private struct Standing {
    let layouts: JournalLayouts
    /// The models with intact triggers: each change is recorded, or at least one of the records
    /// that were changed together.
    let entered: Set<String>
    /// The models among them whose changes are recorded in full.
    let followed: Set<String>

    init(_ layouts: JournalLayouts, _ journal: CompiledJournal) {
      self.layouts = layouts
      entered = journal.intactModels
      followed = journal.exactModels
    }
  }

  /// Creates the head of a file that has a journal with intact triggers.
  ///
  /// - Parameter position: The earlier position of the store; nil for the end.
  /// - Precondition: The file was checked at opening, so it has the journal's tables.
  init(inOrder connection: Connection, from position: Int64?) throws {
    isActive =
      try connection.firstRow(
        "SELECT 1 FROM _ms_journal_layouts WHERE is_current = 1 LIMIT 1"
      ) { try $0.integer(at: 0) } != nil
    damaged = []
    foreignTriggers = []
    self.position = try position ?? JournalReader.newest(on: connection).map { max(0, $0) } ?? 0
  }

  /// Creates the head from the journal of `connection`, and compares its triggers with the tables.
  ///
  /// - Parameters:
  ///   - models: Evaluated only if there is a journal, like `catalog`.
  ///   - catalog: The contents of the file.
  ///   - position: The earlier position of the store; nil for the end.
  /// - Returns: nil if the file has no journal.
  init?(
    reading connection: Connection, models: @autoclosure () -> [ModelSchema],
    catalog: @autoclosure () throws -> Catalog, from position: Int64?
  ) throws {
    guard let layouts = try JournalLayouts(reading: connection) else { return nil }
    let (models, catalog) = (models(), try catalog())
    isActive = !layouts.current.isEmpty
    let journal = CompiledJournal(layouts, of: models, in: catalog)
    damaged = try journal.knownDamagedModels(on: connection)
    foreignTriggers = damaged.isEmpty ? [] : journal.foreignTriggers(of: damaged)
    standing = Standing(layouts, journal)
    self.position = try position ?? JournalReader.newest(on: connection).map { max(0, $0) } ?? 0
  }

  /// The most rows of other programs that are published one by one, which limits memory. If more
  /// rows were recorded since the last poll, all observers refetch.
  static let rowCountMax: Int64 = 65_536

  /// The changes of other connections, up to the end of the journal.
  struct News {
    var changes: [RecordChange] = []
    /// Models that may have more changes.
    var resetModels: Set<String> = []
  }

  /// Reads what was recorded since ``position``, and moves to the end of the journal.
  ///
  /// - Parameters:
  ///   - models: The models whose changes are requested.
  ///   - newest: Reads a record as it is now.
  /// - Returns: nil if the journal does not contain all changes since.
  /// - Precondition: A transaction is open.
  mutating func advance(
    on connection: Connection, models: [ModelSchema],
    newest: (ModelSchema, _ key: [SQLValue]) throws -> [SQLValue]?
  ) throws -> News? {
    let start = position
    let bounds = try JournalReader.bounds(on: connection)
    position = try JournalReader.newest(on: connection).map { max(0, $0) } ?? 0
    // After such a row, positions no longer ascend.
    guard position <= JournalReader.positionMax else { return nil }
    let names = Set(models.map(\.name))
    let standing = try knownStanding(of: models, on: connection)
    let (layouts, entered, followed) = (standing.layouts, standing.entered, standing.followed)
    var news = News(resetModels: names.subtracting(entered))
    // The newest row is removed only if another program empties the journal by hand.
    guard let bounds, position > start else { return position < start ? nil : news }
    guard bounds.lowerBound <= start + 1, position - start <= Self.rowCountMax else { return nil }
    var fold = JournalFold(
      layouts: layouts, schemas: models.filter { followed.contains($0.name) })
    try JournalReader(connection: connection, layouts: layouts).forEachEntry(after: start) {
      switch $0.content {
      case .record(let record):
        let model = layouts.all[record.layout]?.model ?? ""
        if followed.contains(model) {
          fold.add(record)
        } else if names.contains(model) {
          news.resetModels.insert(model)
        }
      case .started(let layout), .began(let layout), .stopped(let layout):
        if let model = layouts.all[layout]?.model { news.resetModels.insert(model) }
      case .transaction: break
      }
      return true
    }
    let folded = try fold.changes(newest: newest)
    news.resetModels.formUnion(folded.untold)
    news.changes = folded.changes.filter { !news.resetModels.contains($0.model) }
    return news
  }

  /// Returns the standing of `models`. If the file was checked at opening, it reads only their
  /// tables.
  private mutating func knownStanding(
    of models: [ModelSchema], on connection: Connection
  ) throws -> Standing {
    if let standing, isCovering(models) { return standing }
    let layouts = try standing?.layouts ?? JournalLayouts(reading: connection) ?? JournalLayouts()
    let made = Standing(
      layouts,
      CompiledJournal(
        layouts, of: models, in: try Catalog(reading: connection, only: models.map(\.table))))
    standing = made
    covered = Set(models.map(\.name))
    return made
  }

  private func isCovering(_ models: [ModelSchema]) -> Bool {
    guard let covered else { return true }
    return models.allSatisfy { covered.contains($0.name) }
  }
}
