import Testing

@testable import ModelStore

/// Other processes that observe: two that read changes from the journal, one of them as a durable
/// consumer, and one that follows a sorted result.
final class Watchers {
  private static let plays = ToldRecords.Place(model: "Song", key: 1, field: "plays")
  private static let title = ToldRecords.Place(model: "Song", key: 2, field: "title")

  private let start: Int64
  private let fields: WatchingProcess
  private let view: WatchingProcess
  private let slot: WatchingProcess
  private var toldFields: ToldRecords
  private var toldView = ToldResult()
  private var toldSlot: ToldRecords

  /// They begin with what is there now.
  init(_ program: String, of world: ForeignWorld) throws {
    let path = world.store.path
    // An automatic checkpoint meets a bug in many versions of SQLite that damages the file.
    try world.other.execute("PRAGMA wal_autocheckpoint = 0")
    start = try Self.position(in: world)
    fields = try WatchingProcess(
      program, "Song", "--model", "Album", "--since", "\(start)", path: path)
    view = try WatchingProcess(program, "Album", "--sort", "title", "--snapshot", path: path)
    slot = try WatchingProcess(program, "--consumer", "observer", "--since", "\(start)", path: path)
    toldFields = ToldRecords(
      try Self.records(of: ["Song", "Album"], in: world), following: [Self.plays, Self.title])
    toldSlot = ToldRecords(
      try Self.records(of: Self.models, in: world), following: [Self.plays, Self.title])
  }

  private static let models = ["Song", "Album", "Mix.songs"]

  /// Waits, while no other program writes, until all of them have reported everything, and compares
  /// their reports with the file.
  func check(_ round: Int, _ world: ForeignWorld) throws {
    // Everything before the first mark is reported by then. The step of the second mark has only
    // one line, so it is complete.
    for mark in ["~ \(round) first", "~ \(round) second"] {
      try world.other.execute("UPDATE Album SET title = '\(mark)' WHERE id = 2")
      try view.read { line in
        toldView.take(line)
        return line.key == [.integer(2)] && line.image["title"] == .text(mark)
      }
    }
    toldView.settle()
    let end = try Self.position(in: world)
    try fields.read { line in
      toldFields.take(line)
      return line.position == end
    }
    try slot.read { line in
      toldSlot.take(line)
      return line.position == end
    }
    let stored = try Self.records(of: Self.models, in: world)
    #expect(toldSlot.records == stored)
    #expect(toldFields.records == stored.filter { $0.key != "Mix.songs" })
    let albums = try world.other.rows(ManyWritersTests.albumsText.sql)
    #expect(toldView.keys == albums.map { [$0[0]] })
    #expect(toldView.images == toldView.keys.map { stored["Album"]?[$0] })
    let slots = (toldSlot.records["Mix.songs"] ?? [:]).values.filter { $0["owner"] == .integer(1) }
    let order = slots.sorted { first, second in
      func place(_ image: ToldRecords.Image) -> [Int64] {
        ["label", "slot"].map { name in
          if case .integer(let number)? = image[name] { number } else { 0 }
        }
      }
      return place(first).lexicographicallyPrecedes(place(second))
    }
    #expect(
      order.map { [$0["element"] ?? .null] }
        == (try world.other.rows(ManyWritersTests.songsText.sql)))
    for objections in [
      toldFields.objections, toldSlot.objections, toldView.objections,
      toldView.records.objections,
    ] {
      #expect(objections == [])
    }
  }

  /// Compares the order of their reports with that of the file and of the other processes, and ends
  /// them.
  ///
  /// - Parameters:
  ///   - playCount: How often the plays of song 1 were increased.
  ///   - plays: Their values, as reported to the store.
  ///   - titles: The titles of song 2, as reported to the store.
  func finish(
    _ world: ForeignWorld, playCount: Int, plays: [Int64], titles: [String]
  ) throws {
    func positions(where condition: String) throws -> [Int64] {
      // Layout 0 is the journal's own, and no record here is so wide that it takes two rows.
      let rows = try world.other.rows(
        """
        SELECT j.position
        FROM _ms_journal AS j
          JOIN _ms_journal_layouts AS l ON l.number = j.layout
        WHERE j.position > \(start) AND j.layout <> 0 AND \(condition)
        ORDER BY j.position
        """)
      return rows.compactMap { row in
        if case .integer(let position) = row[0] { position } else { nil }
      }
    }
    #expect(toldSlot.positions == (try positions(where: "true")))
    #expect(
      toldFields.positions
        == (try positions(where: "json_extract(l.definition, '$.model') IN ('Song', 'Album')")))
    // Each addition was reported once, and every process reported them in the same order.
    #expect(toldFields.values[Self.plays] == (1...playCount).map { .integer(Int64($0)) })
    #expect(toldFields.values == toldSlot.values)
    // Several commits of others may be one event in this process.
    let told = (toldFields.values[Self.plays] ?? [], toldFields.values[Self.title] ?? [])
    #expect(Self.contains(told.0, plays.map { .integer($0) }))
    #expect(Self.contains(told.1, titles.map { .text($0) }))
    for process in [fields, view, slot] {
      let said = try process.finish()
      #expect(!said.contains("gap") && !said.contains("error"), "\(said)")
    }
  }

  /// Whether `some` are among `all`, in the same order.
  private static func contains(_ all: [SQLValue], _ some: [SQLValue]) -> Bool {
    var rest = all[...]
    return some.allSatisfy { value in
      guard let index = rest.firstIndex(of: value) else { return false }
      rest = rest[(index + 1)...]
      return true
    }
  }

  private static func position(in world: ForeignWorld) throws -> Int64 {
    let rows = try world.other.rows("SELECT max(position) FROM _ms_journal")
    guard case .integer(let position)? = rows.first?.first else { return 0 }
    return position
  }

  /// The records of the file by model and key.
  private static func records(
    of models: [String], in world: ForeignWorld
  ) throws -> [String: [[SQLValue]: ToldRecords.Image]] {
    var records: [String: [[SQLValue]: ToldRecords.Image]] = [:]
    for name in models {
      let schema = try world.store.schema.model(named: name)
      let columns = schema.fields.map { SQLText.quoted($0.column) }.joined(separator: ", ")
      let rows = try world.other.rows("SELECT \(columns) FROM \(SQLText.quoted(schema.table))")
      records[name] = Dictionary(
        uniqueKeysWithValues: rows.map { row in
          (
            schema.keyIndices.map { row[$0] },
            Dictionary(uniqueKeysWithValues: zip(schema.fields.map(\.name), row))
          )
        })
    }
    return records
  }
}
