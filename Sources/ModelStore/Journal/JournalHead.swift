internal import Synchronization

/// Where a store stands in its file's change journal.
struct JournalHead {
  let layouts: JournalLayouts
  /// The models whose changes are entered in full, by triggers that are as they should be.
  let followed: Set<String>
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
    followed = JournalInstallation.intactModels(layouts, models: models, in: catalog)
      .filter { layouts.layout(of: $0)?.detail == .full }
    self.position = try position ?? JournalReader.bounds(on: connection)?.upperBound ?? 0
  }

  /// So many rows of other programs are followed one by one; for more, everybody looks anew.
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
    position = bounds?.upperBound ?? position
    var news = News(resetModels: Set(models.map(\.name)).subtracting(followed))
    guard let bounds, position > start else { return position < start ? nil : news }
    guard bounds.lowerBound <= start + 1, position - start <= Self.rowCountMax else { return nil }
    var fold = JournalFold(
      layouts: layouts, schemas: models.filter { followed.contains($0.name) })
    do {
      try JournalReader(connection: connection, layouts: layouts).forEachEntry(after: start) {
        switch $0.content {
        case .record(let record): fold.add(record)
        case .started(let layout), .stopped(let layout):
          if let model = layouts.all[layout]?.model { news.resetModels.insert(model) }
        case .transaction: break
        }
        return true
      }
      news.changes = try fold.changes(newest: newest)
        .filter { !news.resetModels.contains($0.model) }
      return news
    } catch is JournalFold.Inconsistency, is ColumnError {
      return nil
    }
  }
}

/// How far the journal had come when somebody read the tables beside the writer. What was entered
/// up to there may be in what they read, and must not be told to them as a change.
final class JournalSight: Sendable {
  private let isActive = Atomic(false)
  private let newest = Atomic<Int64>(0)

  /// Whether the file has a journal that is filled.
  func setActive(_ active: Bool) {
    isActive.store(active, ordering: .relaxed)
  }

  /// To be called after reading on `connection`, or inside the transaction that reads.
  func note(on connection: Connection) throws {
    guard isActive.load(ordering: .relaxed),
      let bounds = try JournalReader.bounds(on: connection)
    else { return }
    newest.max(bounds.upperBound, ordering: .acquiringAndReleasing)
  }

  /// Whether somebody has seen more than what was announced up to `position`.
  func reaches(beyond position: Int64) -> Bool {
    newest.load(ordering: .acquiring) > position
  }
}
