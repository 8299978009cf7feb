import CSQLite
import Foundation
import Testing

@testable import ModelStore

/// Members of one shared store, each with a file of its own, in this process.
final class SharedWorld {
  let directory: TemporaryDirectory
  let ledger: any CommitLedger
  private(set) var shared: SharedLedger
  private(set) var members: [Store] = []
  let reports = Recorder<StoreError>()

  /// Tables of every kind that SQLite has, beside the models.
  static let tables = """
    CREATE TABLE Plain (a TEXT UNIQUE, b REAL, c BLOB, d INTEGER DEFAULT 7);
    CREATE TABLE Keyed (k TEXT, n INTEGER, v, PRIMARY KEY (k, n)) WITHOUT ROWID;
    CREATE TABLE Numbered (id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT NOT NULL);
    CREATE TABLE Generated (
      id INTEGER PRIMARY KEY, a INTEGER, twice INTEGER AS (a * 2) STORED, half AS (a / 2.0));
    CREATE TABLE Folded (k TEXT COLLATE NOCASE PRIMARY KEY, v) WITHOUT ROWID;
    CREATE TABLE Loose (k PRIMARY KEY, v) WITHOUT ROWID;
    CREATE TABLE Shifted (twice AS (id * 2), id INTEGER PRIMARY KEY, a REAL);
    CREATE TABLE Heard (number INTEGER PRIMARY KEY, name TEXT);
    CREATE TRIGGER PlainHeard AFTER INSERT ON Plain
    BEGIN INSERT INTO Heard (name) VALUES (new.a); END;
    """

  /// - Parameter snapshotByteCountMin: The bytes of commits from which a new snapshot is published;
  ///   nil for none in a test.
  init(
    memberCount: Int = 2, ledger: MemoryLedger = MemoryLedger(),
    snapshotByteCountMin: Int64? = nil,
    preparing: (Store) throws -> Void = { _ in }
  ) throws {
    directory = try TemporaryDirectory()
    self.ledger = ledger
    shared = ledger.shared(as: "music")
    shared.snapshotByteCountMin = snapshotByteCountMin ?? .max
    for number in 0..<memberCount {
      members.append(try member(number))
      if number == 0 { try preparing(members[0]) }
    }
  }

  /// The code of the error that `body` throws; nil if it throws none.
  static func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  func path(_ number: Int) -> String { directory.file("\(number).store") }

  /// Opens a member's file, which begins from the ledger's snapshot if it does not exist.
  func member(_ number: Int, busyTimeout: Duration = .seconds(60)) throws -> Store {
    var configuration = StoreConfiguration(busyTimeout: busyTimeout, changeJournal: .full)
    configuration.ledger = shared
    return try open(number, configuration)
  }

  /// Opens a member's file with any configuration.
  func open(_ number: Int, _ configuration: StoreConfiguration) throws -> Store {
    try Self.store(at: path(number), configuration) { [reports] error in reports.add(error) }
  }

  /// Opens a store with the declarations of all members.
  static func store(
    at path: String, _ configuration: StoreConfiguration,
    onError: @escaping @Sendable (StoreError) -> Void = StoreError.writeToStandardError
  ) throws -> Store {
    try Store(
      at: path, models: Artist.self, Album.self,
      migrations: [Migration(version: 1, name: "tables", sql: tables, onFreshFiles: .run)],
      bindings: [.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)],
      configuration: configuration, onError: onError)
  }

  /// Opens one more member.
  func join() throws { members.append(try member(members.count)) }

  /// Whether members that are opened from now on may begin again.
  func rebuildsMembers(_ rebuilds: Bool) { shared.rebuildsMembers = rebuilds }

  /// Whether there is a file beside a member's, with the same name and a suffix.
  func exists(_ number: Int, _ suffix: String) -> Bool {
    FileManager.default.fileExists(atPath: path(number) + suffix)
  }

  /// Publishes a snapshot of a member's file now.
  func publishSnapshot(of number: Int) throws {
    let engine = members[number].engine
    let keeper = SnapshotKeeper(of: ledger, path: "", byteCountMin: 0)
    #expect(try keeper.publishIfDue { try MemberCopying(engine: engine).copy(for: nil) })
  }

  /// Closes a member, so that its file can be used by others.
  func close(_ number: Int) { members[number].close() }

  /// Opens a member again.
  func reopen(_ number: Int) throws { members[number] = try member(number) }

  /// Every row of every shared table, as any other program reads it, and the sequences.
  func content(_ number: Int) throws -> [String: [[SQLValue]]] {
    let file = try PlainDatabase(path(number))
    let tables = try file.rows(
      """
      SELECT name, wr FROM pragma_table_list
      WHERE schema = 'main' AND type = 'table'
        AND name NOT IN ('_ms_log', '_ms_reconciled', '_ms_member', 'sqlite_schema')
      """)
    var content: [String: [[SQLValue]]] = [:]
    for table in tables {
      guard case .text(let name) = table[0] else { continue }
      // SQLite finds the numbers of AUTOINCREMENT by the name of the table.
      let rowID = table[1] == .integer(0) && name != "sqlite_sequence" ? "rowid, " : ""
      content[name] = try file.rows("SELECT \(rowID)* FROM \"\(name)\" ORDER BY 1, 2")
    }
    return content
  }

  /// The commit that a member's file has.
  func standing(_ number: Int) throws -> [[SQLValue]] {
    try PlainDatabase(path(number)).rows("SELECT number, hash FROM _ms_member")
  }

  /// Checks that all members have the same rows, and the commit that the ledger has.
  func checkEqual(sourceLocation: SourceLocation = #_sourceLocation) throws {
    for member in members { try member.refresh() }
    let first = try content(0)
    for number in members.indices.dropFirst() {
      let other = try content(number)
      for table in first.keys.sorted() where first[table] != other[table] {
        Issue.record(
          """
          \(table) differs between the members 0 and \(number):
          \(first[table] ?? [])
          \(other[table] ?? [])
          """, sourceLocation: sourceLocation)
      }
      #expect(try standing(number) == standing(0), sourceLocation: sourceLocation)
    }
    let head = try #require(try ledger.standing())
    #expect(
      try standing(0) == [[.integer(head.number.rawValue), .blob(head.hash.bytes)]],
      sourceLocation: sourceLocation)
  }
}
