import Testing

@testable import ModelStore

/// Playlists and tracks of another program's design, whose link table has a position, adopted.
final class AdoptedListWorld {
  /// How the other program keeps its entries.
  enum Design: CaseIterable, CustomTestStringConvertible {
    /// With a row number of their own, and more than a list needs.
    case numbered
    /// Without any key.
    case keyless
    /// With the owner and the position as their key, so that positions are unique.
    case unique

    var table: String {
      switch self {
      case .numbered:
        """
        CREATE TABLE Entry(
          EntryId INTEGER PRIMARY KEY, "Playlist Id" INT NOT NULL REFERENCES Playlist,
          TrackId INT NOT NULL REFERENCES Track ON DELETE CASCADE, Position INTEGER,
          Added TEXT NOT NULL DEFAULT 'now')
        """
      case .keyless: #"CREATE TABLE Entry("Playlist Id" INT, TrackId INT, Position INT)"#
      case .unique:
        """
        CREATE TABLE Entry(
          "Playlist Id" INT, TrackId INT, Position INT CHECK (Position >= 0),
          PRIMARY KEY ("Playlist Id", Position))
        """
      }
    }

    var testDescription: String { "\(self)" }
  }

  let directory: TemporaryDirectory
  let store: Store
  let playlist: ModelSchema
  let told = Recorder<ListChanges<SQLValue>>()
  let shell: PlainDatabase

  static let columns = ListSchema.Columns(
    owner: "playlist id", element: "TRACKID", position: "position")

  static func list(table: String = "Entry", _ columns: ListSchema.Columns = columns) -> ListSchema {
    ListSchema(name: "tracks", elementTable: "track", slotTable: table, columns: columns)
  }

  /// - Parameter entries: Track and position of each entry of playlist 1, as SQL spells them.
  init(_ design: Design = .numbered, entries: [(track: Int64, position: String)] = []) throws {
    directory = try TemporaryDirectory()
    shell = try PlainDatabase(directory.file("other.db"))
    try shell.execute(
      """
      CREATE TABLE Playlist(Id INTEGER PRIMARY KEY, Name NVARCHAR(120));
      CREATE TABLE Track(Id INTEGER PRIMARY KEY, Name NVARCHAR(200) NOT NULL);
      \(design.table);
      INSERT INTO Playlist VALUES (1, 'one'), (2, 'two');
      WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 9)
      INSERT INTO Track SELECT i, 'track ' || i FROM n;
      """)
    for entry in entries {
      try shell.execute(
        #"""
        INSERT INTO Entry("Playlist Id", TrackId, Position)
        VALUES (1, \#(entry.track), \#(entry.position))
        """#)
    }
    store = try Store(at: directory.file("other.db"))
    try store.adopt(["Playlist", "Track"])
    try store.adopt(Self.list(), of: "Playlist")
    playlist = try store.schema.model(named: "Playlist")
  }

  func edit(_ body: (borrowing ListEditor<SQLValue>) throws -> Void) throws {
    try store.write { tx in try body(try tx.list("tracks", of: playlist, key: .integer(1))) }
    store.waitForDelivery()
  }

  func tracks() throws -> [Int64] {
    try store.read { try $0.keys(ofList: "tracks", of: playlist, key: .integer(1)) }.map(\.number)
  }

  /// Track and position of each row of the other program's table, in its order.
  func entries() throws -> [[SQLValue]] {
    try shell.rows(
      #"""
      SELECT TrackId, Position FROM Entry WHERE "Playlist Id" = 1
      ORDER BY Position, rowid
      """#)
  }

  /// The name of each track.
  func names() throws -> [Int64: SQLValue] {
    Dictionary(
      uniqueKeysWithValues: try shell.rows("SELECT Id, Name FROM Track").map {
        ($0[0].number, $0[1])
      })
  }

  func observe(fields: [String] = [], coalescing: CoalescingPolicy = .standard) throws
    -> ObservationToken
  {
    try store.liveList("tracks", of: playlist, key: .integer(1), fields: fields)
      .observe(coalescing: coalescing) { [told] in told.add($0) }
  }
}

extension SQLValue {
  /// The integer; 0 for any other value.
  var number: Int64 { if case .integer(let number) = self { number } else { 0 } }
}
