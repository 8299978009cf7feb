/// Where a store stands in its file's change journal.
struct JournalHead {
  /// Whether anything is entered.
  let isActive: Bool
  /// How the models stand in it; nil until the first foreign commit is read.
  private var standing: Standing?
  /// The models that ``standing`` is about; nil for all.
  private var covered: Set<String>?
  /// The models of which something is entered by triggers that are not as they should be.
  let damaged: Set<String>
  /// The texts of their triggers that are there, but in other words than this library writes.
  let foreignTriggers: Set<String>
  /// Of the newest row whose change was announced.
  var position: Int64

  /// How the models stand in the journal.
  private struct Standing {
    let layouts: JournalLayouts
    /// The models of which something is entered by triggers that are as they should be: each
    /// change, or at least one of the records that were changed together.
    let entered: Set<String>
    /// Those of them whose changes are entered in full.
    let followed: Set<String>

    init(_ layouts: JournalLayouts, _ journal: CompiledJournal) {
      self.layouts = layouts
      entered = journal.intactModels
      followed = journal.exactModels
    }
  }

  /// Finds out that the file has a journal, whose triggers are known to be as they should be.
  ///
  /// - Parameter position: Where the store stood before; nil for at the end.
  /// - Precondition: The file was found in order, so it has the journal's tables.
  init(inOrder connection: Connection, from position: Int64?) throws {
    isActive =
      try connection.firstRow(
        "SELECT 1 FROM _ms_journal_layouts WHERE is_current = 1 LIMIT 1"
      ) { try $0.integer(at: 0) } != nil
    damaged = []
    foreignTriggers = []
    self.position = try position ?? JournalReader.newest(on: connection).map { max(0, $0) } ?? 0
  }

  /// Finds out what `connection` keeps a journal of, and compares its triggers with the tables.
  ///
  /// - Parameters:
  ///   - models: Asked for when there is a journal, as is `catalog`.
  ///   - catalog: What the file contains.
  ///   - position: Where the store stood before; nil for at the end.
  /// - Returns: nil when the file has no journal.
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

  /// So many rows of other programs are followed one by one, which bounds the memory that telling
  /// them takes; when more were entered since the last look, everybody looks anew.
  static let rowCountMax: Int64 = 65_536

  /// What others have entered, up to the end.
  struct News {
    var changes: [RecordChange] = []
    /// Models of which more may have changed.
    var resetModels: Set<String> = []
  }

  /// What was entered since, and moves to the end.
  ///
  /// - Parameters:
  ///   - models: Those whose changes are wanted.
  ///   - newest: Reads a record as it is now.
  /// - Returns: nil when the journal does not tell what happened since.
  /// - Precondition: A transaction is open.
  mutating func advance(
    on connection: Connection, models: [ModelSchema],
    newest: (ModelSchema, _ key: [SQLValue]) throws -> [SQLValue]?
  ) throws -> News? {
    let start = position
    let bounds = try JournalReader.bounds(on: connection)
    position = try JournalReader.newest(on: connection).map { max(0, $0) } ?? 0
    // Behind such a row, positions do not ascend any more.
    guard position <= JournalReader.positionMax else { return nil }
    let names = Set(models.map(\.name))
    let standing = try knownStanding(of: models, on: connection)
    let (layouts, entered, followed) = (standing.layouts, standing.entered, standing.followed)
    var news = News(resetModels: names.subtracting(entered))
    // The newest row is never removed, unless somebody emptied the journal by hand.
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
      case .started(let layout), .stopped(let layout):
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

  /// How `models` stand, read of their tables alone where the file was found in order.
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
