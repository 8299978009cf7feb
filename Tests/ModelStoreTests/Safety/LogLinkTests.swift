import CSQLite
import Foundation
import Testing

@testable import ModelStore

/// A log beside a database that it does not continue. SQLite would apply it.
@Suite(.tags(.process)) struct LogLinkTests: ArtistStores {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func add(_ id: Int64, to store: Store) throws {
    try store.write { tx in try tx.insert(Artist(id: id, name: "Artist \(id)")) }
  }

  private func ids(_ store: Store) throws -> [Int64] {
    try store.fetch(Artist.all).map(\.id).sorted()
  }

  /// An open store with the records 1 to 3, the third in the log only, and a copy of the file with
  /// the first one.
  private func makeStore(at path: String, copy: String) throws -> Store {
    do {
      let store = try open(path)
      try add(1, to: store)
      store.close()
    }
    try write(try bytes(of: path), to: copy)
    do {
      let store = try open(path)
      try add(2, to: store)
      store.close()
    }
    let store = try open(path)
    try add(3, to: store)
    return store
  }

  private func refusal(of path: String) -> StoreError {
    let real = realPath(path)
    func word(_ path: String) -> String { path.contains(" ") ? "'\(path)'" : path }
    return StoreError(
      .fileReplaced,
      "\(real)-wal is not the log of \(real): it continues another state of the database, or another database. Nothing was opened. If another file belongs at \(real), put that one back: the commits in the log are not in this one. Otherwise close every program that has the database open. If the log is then still there, run mv \(word(real + "-wal")) \(word(real + "-wal.old")) && rm -f \(word(real + "-shm")) before you open \(real): SQLite would apply that log to the new file and damage it."
    )
  }

  /// Runs the commands that a refusal names.
  private func runCommands(of refusal: StoreError) throws {
    let start = try #require(refusal.message.range(of: "run mv "))
    let end = try #require(refusal.message.range(of: " before you open"))
    let commands = refusal.message[start.lowerBound..<end.lowerBound].dropFirst("run ".count)
    #expect(run("/bin/sh", "-c", String(commands)) == 0)
  }

  @Test(arguments: [StoreConfiguration.Access.readWrite, .readOnly], ["app.db", "a b?#%41&.db"])
  func anOlderCopyInThePlaceOfAnOpenFileIsRefused(
    access: StoreConfiguration.Access, name: String
  ) throws {
    let path = directory.file(name)
    let copy = directory.file("copy.db")
    let store = try makeStore(at: path, copy: copy)
    let content = try bytes(of: copy)
    try move(copy, to: path)
    let log = try bytes(of: path + "-wal")
    let found = try #require(thrownError { try open(path) { $0.access = access } } as? StoreError)
    #expect(found == refusal(of: path))
    store.close()
    #expect(
      thrownError { try open(path) { $0.access = access } } as? StoreError == refusal(of: path))
    #expect(try bytes(of: path) == content)
    #expect(try bytes(of: path + "-wal") == log)
    try runCommands(of: found)
    #expect(try bytes(of: path + "-wal.old") == log)
    #expect(try ids(open(path)) == [1])
  }

  @Test func anOlderCopyOverTheFileOfAKilledProgramIsRefused() throws {
    let path = directory.file("app.db")
    let killed = directory.file("killed.db")
    let store = try makeStore(at: path, copy: directory.file("copy.db"))
    for suffix in ["", "-wal"] { try write(try bytes(of: path + suffix), to: killed + suffix) }
    #expect(try ids(open(killed)) == [1, 2, 3])
    for suffix in ["", "-wal"] { try write(try bytes(of: path + suffix), to: killed + suffix) }
    // In place, as cp does it.
    #expect(run("/bin/cp", directory.file("copy.db"), killed) == 0)
    let found = try #require(thrownError { try open(killed) } as? StoreError)
    #expect(found == refusal(of: killed))
    try runCommands(of: found)
    #expect(try ids(open(killed)) == [1])
    store.close()
  }

  @Test func aCopyByVacuumInThePlaceOfTheFileIsRefused() throws {
    let path = directory.file("app.db")
    let store = try makeStore(at: path, copy: directory.file("copy.db"))
    let vacuumed = directory.file("vacuumed.db")
    try PlainDatabase(path).execute("VACUUM INTO '\(vacuumed)'")
    try add(4, to: store)
    try move(vacuumed, to: path)
    let found = try #require(thrownError { try open(path) } as? StoreError)
    #expect(found == refusal(of: path))
    store.close()
    try runCommands(of: found)
    #expect(try ids(open(path)) == [1, 2, 3])
  }

  /// The file as it was when the log began is what SQLite applies the log to: nothing is lost.
  @Test func aCopyOfTheStateThatTheLogContinuesIsOpened() throws {
    let path = directory.file("app.db")
    let copy = directory.file("copy.db")
    let store = try open(path)
    try add(1, to: store)
    try store.checkpoint()
    try write(try bytes(of: path), to: copy)
    try add(2, to: store)
    try write(try bytes(of: path + "-wal"), to: copy + "-wal")
    #expect(try ids(open(copy)) == [1, 2])
  }

  /// A log of another program names no state.
  @Test func aLogThatAnotherProgramBeganIsAccepted() throws {
    let path = directory.file("app.db")
    let store = try open(path)
    try add(1, to: store)
    try store.checkpoint()
    let other = try PlainDatabase(path)
    try other.execute("INSERT INTO Artist VALUES (2, 'b')")
    try add(3, to: store)
    let copy = directory.file("copy.db")
    for suffix in ["", "-wal"] { try write(try bytes(of: path + suffix), to: copy + suffix) }
    #expect(try link(of: copy) == nil)
    #expect(try ids(open(copy)) == [1, 2, 3])
  }

  /// The link in the log beside a database.
  private func link(of path: String) throws -> LogLink? {
    let log = try bytes(of: path + "-wal")
    let read: LogHeader.Bytes = { offset, count in Array(log.dropFirst(offset).prefix(count)) }
    return LogHeader(reading: read)?.link(reading: read)
  }

  @Test func eachLogIsLinkedOnceAndNoObserverSeesIt() throws {
    let path = directory.file("app.db")
    let store = try open(path)
    let other = try PlainDatabase(path)
    func stored() throws -> LogLink? {
      guard case .blob(let bytes) = try other.rows("SELECT link FROM _ms_log").first?[0] else {
        return nil
      }
      return LogLink(bytes)
    }
    try add(1, to: store)
    try store.checkpoint()
    let before = try #require(try stored())
    // Neither of these begins a log.
    try store.write { _ in }
    _ = try store.preview { tx in try tx.insert(Artist(id: 2, name: "b")) }
    #expect(throws: CancellationError.self) {
      try store.write { tx in
        try tx.insert(Artist(id: 2, name: "b"))
        throw CancellationError()
      }
    }
    #expect(try stored() == before)
    let (_, changes) = try store.writeReturningChanges { tx in
      try tx.insert(Artist(id: 2, name: "b"))
    }
    #expect(changes.changes.map(\.model) == ["Artist"])
    let after = try #require(try stored())
    #expect(after.previous == before.log)
    #expect(try link(of: path) == after)
    for id in 3...5 { try add(Int64(id), to: store) }
    #expect(try stored() == after)
  }

  @Test func aDamagedLogLinkIsIgnored() {
    let link = LogLink(
      log: Array(1...8), previous: nil, header: LogLink.digest(ofHeader: [1, 2, 3]))
    let page = [0x6D, 0x73] + link.bytes + [0x6D] + link.bytes.dropLast() + [0]
    #expect(link.bytes.count == 48)
    #expect(LogLink.links(in: page[...]) == [link])
    for place in link.bytes.indices {
      var bytes = link.bytes
      bytes[place] ^= 1
      #expect(LogLink(bytes) == nil)
    }
  }

  /// Another process may write and checkpoint while the file is being opened.
  @Test(.timeLimit(.minutes(30)))
  func aFileThatIsBeingWrittenIsNeverRefused() async throws {
    let path = directory.file("busy.db")
    let store = try open(path) { $0.checkpointFrameCount = 5 }
    let done = Recorder<Bool>()
    let comparing = Task.detached {
      var count = 0
      while done.events.isEmpty || count == 0 {
        try DatabaseFile(path: path).checkLog(fileSystem: nil)
        count += 1
      }
      return count
    }
    for id in 1...400 { try add(Int64(id), to: store) }
    done.add(true)
    print("compared \(try await comparing.value) times")
    #expect(try ids(store) == (1...400).map(Int64.init))
  }

  /// What stores and other programs may do to a file, in random order, with a crash after each
  /// step.
  @Test(.timeLimit(.minutes(30)))
  func noLegitimateHistoryOfAFileIsRefused() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("lives of a log: seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    var linkedCount = 0
    var refusedCount = 0
    for round in 0..<200 {
      var life = try LogLife(directory.file("life-\(round)"), seed: generator.next())
      try life.run()
      #expect(life.refusals == [], "seed \(seed), round \(round)")
      linkedCount += life.linkedCount
      refusedCount += life.mismatchCount
    }
    print("\(linkedCount) linked logs accepted, \(refusedCount) with another state refused")
    #expect(linkedCount > 200)
    // Most lives begin no log beside a state that has another.
    #expect(refusedCount > 20)
  }
}
