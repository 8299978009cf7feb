/// Where a store stands in its file's change journal.
struct JournalHead {
  let layouts: JournalLayouts
  /// The models of which something is entered by triggers that are as they should be: each change,
  /// or at least one of the records that were changed together.
  private let entered: Set<String>
  /// Those of them whose changes are entered in full.
  let followed: Set<String>
  /// The models of which something is entered by triggers that are not as they should be.
  let damaged: Set<String>
  /// The texts of their triggers that are there, but in other words than this library writes.
  let foreignTriggers: Set<String>
  /// Of the newest row whose change was announced.
  var position: Int64

  /// Whether anything is entered.
  var isActive: Bool { !layouts.current.isEmpty }

  /// Finds out what `connection` keeps a journal of.
  ///
  /// - Parameter position: Where the store stood before; nil for at the end.
  /// - Returns: nil when the file has no journal.
  init?(
    reading connection: Connection, models: [ModelSchema], catalog: Catalog, from position: Int64?
  ) throws {
    guard let layouts = try JournalLayouts(reading: connection) else { return nil }
    self.layouts = layouts
    let journal = CompiledJournal(layouts, of: models, in: catalog)
    damaged = try journal.knownDamagedModels(on: connection)
    foreignTriggers = damaged.isEmpty ? [] : journal.foreignTriggers(of: damaged)
    entered = journal.intactModels
    followed = journal.exactModels
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
}
