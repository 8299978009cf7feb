import Dispatch
import Foundation
import Glibc
import Testing

@testable import ModelStore

/// A file that is not a store is refused with one clear error and left unchanged.
@Suite(.tags(.process)) struct OpeningTests: ArtistStores {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// A closed store with 200 artists, as bytes.
  private func sample() throws -> [UInt8] {
    let path = directory.file("sample.store")
    let store = try open(path)
    try store.write { tx in
      for id in 1...200 { try tx.insert(Artist(id: Int64(id), name: "Artist \(id)")) }
    }
    store.close()
    return try bytes(of: path)
  }

  private func expectRefused(
    _ content: [UInt8], _ codes: Set<StoreError.Code>, _ comment: String = ""
  ) throws {
    let path = directory.file("refused-\(UUID().uuidString).store")
    try write(content, to: path)
    for access in [StoreConfiguration.Access.readWriteCreate, .readWrite, .readOnly] {
      let found = code {
        let store = try open(path) { $0.access = access }
        _ = try store.fetch(Artist.all)
      }
      #expect(
        found.map { codes.contains($0) } == true,
        "\(String(describing: found)) \(access) \(comment)")
      #expect(try bytes(of: path) == content, "changed \(comment)")
      #expect(openDescriptors(of: path) == [], "\(comment)")
    }
  }

  @Test func aTextFileIsRefusedAsAStore() throws {
    let text = [UInt8]("id,name\n1,Miles Davis\n2,John Coltrane\n".utf8)
    try expectRefused(text, [.notADatabase])
    try expectRefused([UInt8](repeating: 0x41, count: 10_000), [.notADatabase])
  }

  /// Some versions of SQLite do not trust their own JSON functions in a schema.
  @Test(arguments: [StoreConfiguration.Access.readWrite, .readOnly])
  func aSchemaThatThisSQLiteDoesNotTrustIsNotDamage(access: StoreConfiguration.Access) throws {
    let path = directory.file("json.store")
    try PlainDatabase(path).execute(
      "CREATE TABLE j (t TEXT); CREATE INDEX i ON j (json_extract(t, '$.a'))")
    let isTrusted: Bool
    do {
      try PlainDatabase(path).execute("PRAGMA trusted_schema = OFF; SELECT t FROM j")
      isTrusted = true
    } catch is PlainDatabase.Failure {
      isTrusted = false
    }
    let found = code { _ = try open(path) { $0.access = access } }
    // To a file that is read only, no table is added.
    let expected: StoreError.Code? = access == .readOnly ? .schemaMismatch : nil
    #expect(found == (isTrusted ? expected : .unsupportedSchema))
  }

  @Test(
    arguments: [
      (.corrupt, "malformed database schema (j) - unsafe use of json_valid()", .unsupportedSchema),
      (.corrupt, "malformed database schema (unsafe use of x) - incomplete input", .corrupt),
      (.error, "unsafe use of json()", .unsupportedSchema),
      (.error, "no such table: unsafe use of x", .invalidQuery),
    ] as [(ResultCode, String, StoreError.Code)])
  func aMissingPermissionIsDistinguishedFromDamage(
    sqlite: ResultCode, message: String, code: StoreError.Code
  ) {
    #expect(StoreError(SQLiteError(code: sqlite, message: message)).code == code)
  }

  @Test func aTruncatedDatabaseIsDamagedWhereverItEnds() throws {
    let whole = try sample()
    let seed = UInt64.random(in: 0...UInt64.max)
    print("truncation: seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    var lengths = [1, 15, 16, 17, 99, 100, 101, 511, 512, 1024, 4095, 4096, 4097, whole.count - 1]
    for _ in 0..<30 { lengths.append(Int.random(in: 1..<whole.count, using: &generator)) }
    for length in lengths where length < whole.count {
      try expectRefused(
        Array(whole.prefix(length)), [.corrupt, .notADatabase], "\(length) bytes, seed \(seed)")
    }
  }

  @Test func randomBytesAreRefused() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("random bytes: seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for length in [1, 100, 512, 4096, 20_000] {
      let noise = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      try expectRefused(noise, [.notADatabase, .corrupt], "seed \(seed)")
    }
  }

  @Test func damageInsideIsAnErrorAndNeverACrash() throws {
    let whole = try sample()
    let seed = UInt64.random(in: 0...UInt64.max)
    print("damage: seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<40 {
      var damaged = whole
      for _ in 0..<20 {
        damaged[Int.random(in: 100..<whole.count, using: &generator)] =
          UInt8.random(in: 0...255, using: &generator)
      }
      let path = directory.file("damaged-\(UUID().uuidString).store")
      try write(damaged, to: path)
      let error = thrownError {
        let store = try open(path)
        _ = try store.fetch(Artist.all)
        _ = try store.checkIntegrity()
        try store.write { tx in _ = try tx.delete(Artist.self, 100) }
      }
      #expect(error == nil || error is StoreError, "\(String(describing: error)) seed \(seed)")
    }
  }

  @Test func anEmptyFileBecomesAStore() throws {
    let path = directory.file("empty.store")
    try write([], to: path)
    let store = try open(path)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    #expect(try store.fetch(Artist.all) == [Artist(id: 1, name: "a")])
  }

  @Test func pathsThatDoNotNameAFileAreRefused() throws {
    let missing = directory.file("missing.store")
    #expect(code { try open(missing) { $0.access = .readWrite } } == .fileNotFound)
    #expect(code { try open(missing) { $0.access = .readOnly } } == .fileNotFound)
    #expect(code { try open(directory.file("no/such/x.store")) } == .fileNotFound)
    #expect(code { try open(directory.path) } == .unsafeLocation)
    #expect(code { try open(directory.path + "/") } == .unsafeLocation)
    #expect(code { try open("") } == .fileNotFound)
    #expect(code { try open(missing + "\0.txt") } == .unsafeLocation)
    #expect(
      code { try open(directory.file(String(repeating: "n", count: 300))) } == .permissionDenied)
    let deep = directory.path + String(repeating: "/.", count: 10) + "/"
    #expect(thrownError { try open(deep + "dots.store") } == nil)
    let long = String(repeating: "d", count: 200)
    try FileManager.default.createDirectory(
      atPath: directory.file("\(long)/\(long)"), withIntermediateDirectories: true)
    #expect(code { try open(directory.file("\(long)/\(long)/\(long)")) } == .unsafeLocation)
    #expect(mkfifo(directory.file("pipe"), 0o600) == 0)
    #expect(code { try open(directory.file("pipe")) } == .unsafeLocation)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        .filter { !$0.hasPrefix("dots") } == [long, "pipe"])
  }

  @Test func aLinkLeadsToTheRealFileAndItsLog() throws {
    let path = directory.file("real.store")
    let link = directory.file("link.store")
    #expect(mkdir(directory.file("links"), 0o700) == 0)
    #expect(symlink("links/second.store", link) == 0)
    #expect(symlink("../real.store", directory.file("links/second.store")) == 0)
    let store = try open(path)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    let linked = try open(link)
    #expect(linked.engine === store.engine)
    #expect(linked.path == realPath(path))
    try linked.write { tx in try tx.insert(Artist(id: 2, name: "b")) }
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    #expect(names == ["link.store", "links", "real.store", "real.store-shm", "real.store-wal"])
    store.close()
    #expect(try open(link).fetch(Artist.all).count == 2)
  }

  /// The store creates the files beside a database that is in a shared directory. Closing one drops
  /// every lock of the process on it, so that must not happen while another thread opens the
  /// database. Here the file is missing again at such a moment.
  @Test func noFileIsCreatedWhileAnotherThreadOpensTheDatabase() throws {
    #expect(chmod(directory.path, 0o1777) == 0)
    let path = directory.file("shared.store")
    let (mayBegin, begins, ended) = (DispatchGate(), DispatchGate(), DispatchGate())
    let events = Recorder<String>()
    Thread.detachNewThread {
      mayBegin.wait()
      begins.open()
      do {
        try EmptyFile.$willClose.withValue({ _ in events.add("the second creates") }) {
          try Store(at: path, models: Artist.self).close()
        }
      } catch {
        events.add("\(error)")
      }
      ended.open()
    }
    let journals = Recorder<String>()
    let store = try EmptyFile.$willClose.withValue({ created in
      guard created.hasSuffix("-journal") else { return }
      journals.add(created)
      // SQLite removes the empty journal of a new database, so the opening creates it twice. By the
      // second time it has SQLite's locks.
      guard journals.events.count == 2 else { return }
      unlink(created)
      mayBegin.open()
      begins.wait()
      for _ in 0..<50_000 { sched_yield() }
      events.add("the first closes")
    }) {
      try Store(at: path, models: Artist.self)
    }
    #expect(journals.events.count == 2)
    // Lets the other thread end, also where nothing was created.
    mayBegin.open()
    ended.wait()
    #expect(events.events == ["the first closes", "the second creates"])
    store.close()
  }

  /// A mix of what threads do with one file; the order that matters is tested above.
  @Test func threadsOpenAndCloseOneNewFileByDifferentPaths() throws {
    let (threadCount, openingCount) = (4, 6)
    #expect(symlink(directory.path, directory.file("way")) == 0)
    for round in 0..<10 {
      let name = "new\(round).store"
      let paths = [
        directory.file(name), directory.file("way/\(name)"), directory.file("way/way/\(name)"),
      ]
      let failures = Recorder<String>()
      DispatchQueue.concurrentPerform(iterations: threadCount) { thread in
        for opening in 0..<openingCount {
          let id = Int64(thread * openingCount + opening)
          do {
            let store = try Store(at: paths[(thread + opening) % paths.count], models: Artist.self)
            try store.write { tx in
              try tx.insert(Artist(id: id, name: "a"))
              try tx.update(Artist(id: id, name: "thread \(thread)"))
            }
            let found = try store.find(Artist.self, id)
            if found?.name != "thread \(thread)" {
              failures.add("\(id): \(String(describing: found))")
            }
            // Dropping it closes it too.
            if opening % 2 == 0 { store.close() }
          } catch {
            failures.add("\(id): \(error)")
          }
        }
      }
      #expect(failures.events == [])
      let store = try Store(at: paths[0], models: Artist.self)
      #expect(try store.fetch(Artist.all).count == threadCount * openingCount)
      #expect(try store.checkIntegrity().isEmpty)
    }
  }

  @Test func linksWithoutAFileAndFilesWithTwoNamesAreRefused() throws {
    let path = directory.file("real.store")
    do { _ = try open(path) }
    #expect(symlink(directory.file("nowhere"), directory.file("dangling.store")) == 0)
    #expect(code { try open(directory.file("dangling.store")) } == .unsafeLocation)
    #expect(
      code { try open(directory.file("dangling.store")) { $0.access = .readOnly } }
        == .fileNotFound)
    #expect(symlink("round.store", directory.file("round.store")) == 0)
    #expect(code { try open(directory.file("round.store")) } == .permissionDenied)
    #expect(!FileManager.default.fileExists(atPath: directory.file("nowhere")))
    #expect(symlink(directory.path, directory.file("way")) == 0)
    #expect(thrownError { try open(directory.file("way/real.store")) } == nil)
    #expect(link(path, directory.file("second.store")) == 0)
    #expect(code { try open(path) } == .unsafeLocation)
    #expect(code { try open(directory.file("second.store")) } == .unsafeLocation)
    #expect(unlink(directory.file("second.store")) == 0)
    #expect(thrownError { try open(path) } == nil)
  }

  @Test(arguments: ["-wal", "-shm", "-journal"])
  func aPlantedCompanionIsNotFollowed(suffix: String) throws {
    let path = directory.file("planted.store")
    do { _ = try open(path) }
    let victim = directory.file("victim")
    try "precious".write(toFile: victim)
    #expect(symlink(victim, path + suffix) == 0)
    #expect(code { try open(path) } == .unsafeLocation)
    #expect(unlink(path + suffix) == 0)
    #expect(link(victim, path + suffix) == 0)
    #expect(code { try open(path) } == .unsafeLocation)
    #expect(unlink(path + suffix) == 0)
    #expect(mkdir(path + suffix, 0o700) == 0)
    #expect(code { try open(path) } == .unsafeLocation)
    #expect(rmdir(path + suffix) == 0)
    #expect(try bytes(of: victim) == [UInt8]("precious".utf8))
    #expect(thrownError { try open(path) } == nil)
  }

  @Test func aDirectoryThatAnyoneMayChangeNeedsTheStickyBit() throws {
    let path = directory.file("shared/a.store")
    #expect(mkdir(directory.file("shared"), 0o700) == 0)
    do { _ = try open(path) }
    #expect(chmod(directory.file("shared"), 0o777) == 0)
    #expect(code { try open(path) } == .unsafeLocation)
    #expect(code { try open(directory.file("shared/new.store")) } == .unsafeLocation)
    #expect(!FileManager.default.fileExists(atPath: directory.file("shared/new.store")))
    #expect(chmod(directory.file("shared"), 0o1777) == 0)
    #expect(thrownError { try open(path) } == nil)
  }

  @Test func onlyTheOwnerCanAccessTheFiles() throws {
    let path = directory.file("private.store")
    let store = try open(path)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    #expect(["", "-wal", "-shm"].map { mode(of: path + $0) } == ["600", "600", "600"])
  }

  @Test(arguments: [
    "file:name.store", "name.store?mode=memory", "per%20cent.store", "name.store#fragment",
    ":memory:", "ümläut 中文 🎵.store", "with space", "quo'te\"s", "-rf", "new\nline.store",
  ])
  func fileNamesAreUsedVerbatim(name: String) throws {
    let path = directory.file(name)
    let store = try open(path)
    try store.write { tx in try tx.insert(Artist(id: 1, name: name)) }
    store.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [name])
    #expect(try open(path).fetch(Artist.all) == [Artist(id: 1, name: name)])
  }

  @Test func aDatabaseOfANewerLibraryIsRefusedUnchanged() throws {
    let path = directory.file("newer.store")
    do { _ = try open(path) }
    do {
      let connection = try Connection(path: path, role: .writer, policy: .scratch())
      try connection.execute(
        """
        INSERT INTO _ms_migrations (scope, version, name, checksum, sql, applied_at)
        VALUES ('store', 9999, 'later', 'x', '', '2040-01-01T00:00:00.000Z')
        """)
    }
    let content = try bytes(of: path)
    for access in [StoreConfiguration.Access.readWriteCreate, .readWrite, .readOnly] {
      #expect(code { try open(path) { $0.access = access } } == .newerFormat)
      #expect(code { try Store(at: path) } == .newerFormat)
    }
    #expect(try bytes(of: path) == content)
  }

  @Test(arguments: ["UTF-16le", "UTF-16be"])
  func anotherEncodingIsRefusedUnchanged(encoding: String) throws {
    let path = directory.file("utf16.db")
    try write([], to: path)
    do {
      let connection = try Connection(path: path, role: .writer, policy: .scratch())
      try connection.execute("PRAGMA encoding = '\(encoding)'; CREATE TABLE t(x)")
    }
    let content = try bytes(of: path)
    #expect(code { try open(path) } == .unsupportedSchema)
    #expect(code { try open(path) { $0.access = .readOnly } } == .unsupportedSchema)
    #expect(try bytes(of: path) == content)
  }

  @Test func aFileReplacedWhileOpenIsNoticed() throws {
    let path = directory.file("replaced.store")
    let store = try open(path)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "first")) }
    let other = directory.file("other.store")
    do {
      let store = try open(other)
      try store.write { tx in try tx.insert(Artist(id: 2, name: "second")) }
    }
    let content = try bytes(of: other)
    #expect(rename(other, path) == 0)
    let refusal = failure {
      try store.write { tx in try tx.insert(Artist(id: 3, name: "third")) }
    }
    let real = realPath(path)
    #expect(
      refusal
        == StoreError(
          .fileReplaced,
          "\(real) was replaced, renamed or removed while the store was open, so nothing was done. The commits of this store are in the earlier file and its log, not at this path. Close every program that has the database open. If the log of the earlier file is then still there, run mv \(real)-wal \(real)-wal.old && rm -f \(real)-shm before you open \(real): SQLite would apply that log to the new file and damage it."
        ))
    // A reader that is opened only now must not read the other file.
    #expect(code { try store.fetch(Artist.all) } == .fileReplaced)
    store.close()
    #expect(try bytes(of: path) == content)
  }

  /// The log of a killed program, beside a database that was put in the place of its own.
  @Test(arguments: [StoreConfiguration.Access.readWrite, .readOnly])
  func aLogOfAnotherPageSizeIsRefused(access: StoreConfiguration.Access) throws {
    let killed = directory.file("killed.db")
    let restored = directory.file("restored.db")
    let first = try PlainDatabase(killed)
    try first.execute(
      "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)"
    )
    try PlainDatabase(restored).execute("PRAGMA page_size = 4096; CREATE TABLE t (x)")
    let log = try bytes(of: killed + "-wal")
    try write(log, to: restored + "-wal")
    let content = try bytes(of: restored)
    #expect(code { _ = try open(restored) { $0.access = access } } == .fileReplaced)
    #expect(try bytes(of: restored) == content)
    #expect(try bytes(of: restored + "-wal") == log)
    #expect(rename(restored + "-wal", restored + "-wal.old") == 0)
    #expect(try Store(at: restored).adoptableTables().map(\.name) == ["t"])
    // SQLite ignores a log with a wrong checksum, and so does the store.
    var damaged = log
    damaged[100] ^= 1
    try write(damaged, to: restored + "-wal")
    #expect(try Store(at: restored).adoptableTables().map(\.name) == ["t"])
    withExtendedLifetime(first) {}
  }

  @Test func aDatabaseBesideItsOwnLogIsOpened() throws {
    let path = directory.file("own.db")
    let copy = directory.file("copy.db")
    let writer = try PlainDatabase(path)
    try writer.execute(
      "PRAGMA page_size = 512; PRAGMA journal_mode = WAL; CREATE TABLE t (x); PRAGMA wal_checkpoint"
    )
    try writer.execute("CREATE TABLE u (x)")
    for suffix in ["", "-wal"] { try write(try bytes(of: path + suffix), to: copy + suffix) }
    #expect(try Store(at: copy).adoptableTables().map(\.name) == ["t", "u"])
  }

  @Test func twoStoresOnOneFileShareEverything() throws {
    let path = directory.file("shared.store")
    let first = try open(path)
    let second = try open(directory.path + "/./shared.store")
    #expect(first.engine === second.engine)
    #expect(code { try open(path) { $0.durability = .full } } == .configurationConflict)
    #expect(code { try open(path) { $0.access = .readOnly } } == .configurationConflict)
    #expect(try open(path) { $0.access = .readWrite }.engine === first.engine)
    try first.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    #expect(try second.fetch(Artist.all) == [Artist(id: 1, name: "a")])
  }

  @Test func aClosedStoreRefusesEverything() throws {
    let path = directory.file("closed.store")
    let store = try open(path)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    _ = try store.fetch(Artist.all)
    store.close()
    store.close()
    #expect(openDescriptors(of: path) == [])
    let refusals = [
      code { try store.write { _ in } }, code { try store.read { _ in } },
      code { try store.fetch(Artist.all) }, code { try store.preview { _ in } },
      code { try store.checkpoint() }, code { try store.checkIntegrity() },
      code { try store.bindings() },
      code { try store.adoptableTables() }, code { try store.liveQuery(Artist.all) },
      code { try store.refresh() },
    ]
    #expect(refusals == Array(repeating: .misuse, count: refusals.count))
    #expect(try open(path).fetch(Artist.all) == [Artist(id: 1, name: "a")])
  }

  @Test(.timeLimit(.minutes(30))) func closingInsideATransactionEndsTheStoreAfterIt() throws {
    let path = directory.file("closing.store")
    let store = try open(path)
    try store.write { tx in
      try tx.insert(Artist(id: 1, name: "a"))
      store.close()
    }
    #expect(code { try store.write { _ in } } == .misuse)
    let again = try open(path)
    let count = try again.read { tx in
      again.close()
      return try tx.count(Artist.all)
    }
    #expect(count == 1)
    #expect(code { try again.fetch(Artist.all) } == .misuse)
    // If the store is polling for commits of others, the poll ends first.
    while openDescriptors(of: path) != [] { sched_yield() }
  }

  @Test func aReaderThatItsOwnBodyClosesHoldsTheFileNoLongerThanTheBody() throws {
    let path = directory.file("lane.store")
    try open(path).close()
    let lane = ReaderLane(try Connection(path: path, role: .reader, policy: .scratch()))
    var during: [String] = []
    try lane.use { connection in
      lane.close(waiting: false)
      try connection.execute("SELECT * FROM sqlite_schema")
      during = openDescriptors(of: path)
    }
    #expect(openDescriptors(of: path) == [])
    #expect(during.contains(realPath(path)))
    #expect(code { try lane.use { _ in } } == .misuse)
  }

  @Test(.timeLimit(.minutes(30))) func droppingTheLastStoreClosesTheFile() throws {
    let path = directory.file("dropped.store")
    for _ in 0..<5 {
      var store: Store? = try open(path)
      try store?.write { tx in try tx.upsert(Artist(id: 1, name: "a")) }
      let live = try store?.liveQuery(Artist.all)
      var second: Store? = try open(path)
      store = nil
      #expect(try second?.fetch(Artist.all).count == 1)
      #expect(openDescriptors(of: path) != [])
      second = nil
      // If the store is polling for commits of others, the poll ends first.
      while openDescriptors(of: path) != [] { sched_yield() }
      _ = live
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["dropped.store"])
  }

  @Test func aReadOnlyStoreChangesNothing() throws {
    let path = directory.file("reading.store")
    do {
      let store = try open(path)
      try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    }
    let content = try bytes(of: path)
    do {
      let store = try open(path) { $0.access = .readOnly }
      #expect(try store.fetch(Artist.all) == [Artist(id: 1, name: "a")])
      #expect(code { try store.write { _ in } } == .readOnly)
      #expect(code { try store.checkpoint() } == .readOnly)
      #expect(code { try store.read { tx in try tx.rows("DELETE FROM Artist") } } == .misuse)
    }
    #expect(try bytes(of: path) == content)
  }

  @Test(.ownThreads, .enabled(if: getuid() == 0, "only root can become another user"))
  func permissionsAreRespected() async throws {
    #expect(chmod(directory.path, 0o755) == 0)
    let path = directory.file("a.store")
    try makeStore(path)
    let content = try bytes(of: path)
    // Only its owner may read it.
    await expect(asNobody: path, .readWriteCreate, .permissionDenied)
    await expect(asNobody: path, .readOnly, .permissionDenied)
    // The directory lets no other user create files beside it.
    await expect(asNobody: directory.file("new.store"), .readWriteCreate, .permissionDenied)
    // Every user may read the file, and only its owner may write it.
    #expect(chmod(path, 0o644) == 0)
    await expect(asNobody: path, .readWriteCreate, .permissionDenied)
    // Every user may write the file, but not its directory, where the log has to be.
    #expect(chmod(path, 0o666) == 0)
    await expect(asNobody: path, .readWrite, .permissionDenied)
    #expect(chmod(directory.path, 0o700) == 0)
    await expect(asNobody: path, .readWrite, .permissionDenied)
    #expect(try bytes(of: path) == content)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["a.store"])
  }

  private func makeStore(_ path: String) throws {
    let store = try open(path)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
  }

  private func expect(
    asNobody path: String, _ access: StoreConfiguration.Access, _ expected: StoreError.Code
  ) async {
    let isReadOnly = access == .readOnly
    let creates = access == .readWriteCreate
    let raw = expected.rawValue
    await #expect(processExitsWith: .success) {
      [
        path = path as String, isReadOnly = isReadOnly as Bool, creates = creates as Bool,
        raw = raw as String
      ] in
      #expect(setgid(65534) == 0)
      #expect(setuid(65534) == 0)
      var configuration = StoreConfiguration()
      configuration.access = isReadOnly ? .readOnly : creates ? .readWriteCreate : .readWrite
      let error = thrownError {
        let store = try Store(at: path, models: Artist.self, configuration: configuration)
        try store.write { tx in try tx.insert(Artist(id: 7, name: "b")) }
      }
      #expect(
        (error as? StoreError)?.code.rawValue == raw,
        "\(path) \(configuration.access) \(String(describing: error))")
    }
  }
}
