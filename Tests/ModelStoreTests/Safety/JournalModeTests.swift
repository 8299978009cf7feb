internal import Glibc
internal import Testing

@testable internal import ModelStore

/// Files that have a rollback journal.
@Suite(.tags(.unit)) struct JournalModeTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("plain.db")
    try PlainDatabase(path).execute(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (1, 'x')")
  }

  private func mode() throws -> [[SQLValue]] {
    try PlainDatabase(path).rows("PRAGMA journal_mode")
  }

  private func open(
    _ mode: StoreConfiguration.JournalMode, at path: String? = nil, _ notices: Recorder<StoreError>
  ) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.journalMode = mode
    return try Store(at: path ?? self.path, configuration: configuration) { notices.add($0) }
  }

  @Test func changingTheJournalOfAnotherProgramIsReported() throws {
    let notices = Recorder<StoreError>()
    let store = try open(.writeAheadLog, notices)
    #expect(store.usesWriteAheadLog)
    #expect(notices.events.map(\.code) == [.configurationConflict])
    #expect(
      notices.events.first?.message.contains(
        "had a rollback journal (journal mode delete); the store changed it to a write-ahead log.")
        == true)
    store.close()
    #expect(try mode() == [[.text("wal")]])
  }

  @Test func theStoreThatOpenedTheFileReceivesTheReportOnce() throws {
    let (first, second, later) = (
      Recorder<StoreError>(), Recorder<StoreError>(), Recorder<StoreError>()
    )
    let store = try open(.writeAheadLog, first)
    let other = try open(.writeAheadLog, second)
    #expect(first.events.map(\.code) == [.configurationConflict])
    #expect(second.events.isEmpty)
    store.close()
    other.close()
    // The file has its log now.
    try open(.writeAheadLog, later).close()
    #expect(first.events.count == 1 && second.events.isEmpty && later.events.isEmpty)
  }

  @Test func aStoreOfItsOwnIsChangedWithoutAReport() throws {
    let notices = Recorder<StoreError>()
    let new = directory.file("new.store")
    for mode in [StoreConfiguration.JournalMode.writeAheadLog, .asFound] {
      try open(mode, at: new, notices).close()
      #expect(try PlainDatabase(new).rows("PRAGMA journal_mode") == [[.text("wal")]])
    }
    #expect(notices.events.isEmpty)
  }

  @Test func aRollbackJournalCanStay() throws {
    let notices = Recorder<StoreError>()
    let store = try open(.asFound, notices)
    #expect(!store.usesWriteAheadLog)
    let model = try #require(try store.adopt(["t"]).first)
    let live = try store.liveQuery(StoreQuery<DynamicRecord>(model))
    try store.write { tx in try tx.insert(["id": .integer(2), "a": .text("y")], into: model) }
    #expect(live.keys(in: 0..<live.count) == [[.integer(1)], [.integer(2)]])
    #expect(throws: CancellationError.self) {
      try store.write { tx in
        try tx.insert(["id": .integer(3)], into: model)
        throw CancellationError()
      }
    }
    #expect(
      try store.fetch(StoreQuery<DynamicRecord>(model)).map(\.key) == [
        [.integer(1)], [.integer(2)],
      ])
    #expect(try store.checkIntegrity() == [])
    store.close()
    #expect(try mode() == [[.text("delete")]])
    #expect(notices.events.isEmpty)
  }

  @Test func readingChangesNothing() throws {
    var configuration = StoreConfiguration()
    configuration.access = .readOnly
    let store = try Store(at: path, configuration: configuration)
    #expect(!store.usesWriteAheadLog)
    store.close()
    #expect(try mode() == [[.text("delete")]])
  }

  /// Which file is there and how large it is; nil when there is none.
  private func file(_ suffix: String) -> [UInt64]? {
    var status = stat()
    guard lstat(path + suffix, &status) == 0 else { return nil }
    return [UInt64(status.st_ino), UInt64(status.st_size)]
  }

  /// In DELETE mode each commit removes the journal, and another user could create one next.
  @Test("where others can create files, a transaction empties its rollback journal and keeps it")
  func anExposedRollbackJournalStays() throws {
    #expect(chmod(directory.path, 0o1777) == 0)
    let notices = Recorder<StoreError>()
    let store = try open(.asFound, notices)
    #expect(!store.usesWriteAheadLog)
    #expect(
      try store.engine.connections.writer.sync { try $0.connection.journalMode() } == "truncate")
    let created = try #require(file("-journal"))
    #expect(created[1] == 0)
    let model = try #require(try store.adopt(["t"]).first)
    for id in 2...4 as ClosedRange<Int64> {
      try store.write { tx in try tx.insert(["id": .integer(id)], into: model) }
      #expect(file("-journal") == created)
    }
    store.close()
    #expect(file("-journal") == created)
    #expect(try PlainDatabase(path).rows("SELECT count(*) FROM t") == [[.integer(4)]])
    #expect(notices.events.isEmpty)
  }

  @Test("where others can create files, opening creates the missing companion files again")
  func missingCompanionsAreCreatedAgain() throws {
    #expect(chmod(directory.path, 0o1777) == 0)
    let notices = Recorder<StoreError>()
    let suffixes = DatabaseFile.companionSuffixes
    let modes = [String?](repeating: ModelStoreTests.mode(of: path), count: suffixes.count)
    for missing in [suffixes, ["-wal"], ["-shm"], ["-journal"]] {
      try open(.asFound, notices).close()
      #expect(suffixes.map { ModelStoreTests.mode(of: path + $0) } == modes)
      for suffix in missing { #expect(unlink(path + suffix) == 0) }
    }
    let store = try open(.asFound, notices)
    #expect(suffixes.map { ModelStoreTests.mode(of: path + $0) } == modes)
    store.close()
    #expect(notices.events.isEmpty)
  }
}
