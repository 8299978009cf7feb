import Foundation
import Glibc
import Testing

@testable import ModelStore

/// The process keeps its locks whatever the program calls while a write is open: POSIX takes all
/// locks of a process on a file away as soon as any descriptor of the file is closed.
@Suite(.tags(.process)) struct LockTests {
  private static let rival = """
    db = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
    for line in sys.stdin:
        try:
            db.execute("BEGIN IMMEDIATE")
            db.execute("ROLLBACK")
            say("admitted")
        except sqlite3.OperationalError as error:
            say(str(error))
    """

  @Test(OtherProcess.isNeeded) func everyCallKeepsTheLocksOfAnOpenWrite() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("locks.store")
    let store = try Store(
      at: path, models: Artist.self, Album.self,
      bindings: [.copy(\Artist.name, to: \Album.artistName, through: \Album.artistID)])
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    let second = try OtherProcess(Self.rival, path)
    #expect(try second.ask("?") == "admitted")
    let reader = Recorder<String>()

    let calls: [(String, () throws -> Void)] = [
      ("path and schema", { _ = (store.path, store.schema) }),
      ("fetch", { _ = try store.fetch(Artist.all) }),
      ("find", { _ = try store.find(Artist.self, 1) }),
      ("read", { try store.read { tx in _ = try tx.count(Artist.all) } }),
      ("read in read", { try store.read { _ in try store.read { _ in } } }),
      ("failing read", { try store.read { tx in _ = try tx.rows("SELECT nothing") } }),
      ("check", { _ = try store.checkIntegrity() }),
      ("bindings", { _ = try store.bindings() }),
      ("validators", { _ = try store.declaredValidators() }),
      ("adoptable tables", { _ = try store.adoptableTables() }),
      ("adopt", { try store.adopt() }),
      ("write in write", { try store.write { _ in } }),
      ("preview in write", { _ = try store.preview { _ in } }),
      ("checkpoint", { try store.checkpoint() }),
      ("refresh", { try store.refresh() }),
      ("live", { _ = try store.liveQuery(Artist.all) }),
      ("observe", { try store.observe(Artist.self) { _ in reader.add("seen") }.cancel() }),
      ("second store", { _ = try Store(at: path, models: Artist.self) }),
      ("store without models", { _ = try Store(at: path) }),
      (
        "conflicting store",
        {
          var other = StoreConfiguration()
          other.durability = .normal
          _ = try Store(at: path, configuration: other)
        }
      ),
      (
        "store on a link",
        {
          #expect(symlink(path, directory.file("link.store")) == 0)
          _ = try Store(at: directory.file("link.store"))
        }
      ),
      ("file checks", { _ = try DatabaseFile(path: path).isStillThere() }),
    ]

    try store.write { tx in
      try tx.insert(Artist(id: 2, name: "b"))
      let held = try lockRows(of: path)
      #expect(held.contains { $0.hasPrefix("shared memory WRITE") }, "\(held)")
      for (name, call) in calls {
        _ = thrownError(by: call)
        #expect(try lockRows(of: path) == held, "\(name)")
        #expect(try second.ask(name) == "database is locked", "\(name)")
      }
    }
    #expect(try second.ask("afterwards") == "admitted")
    #expect(try second.finish() == 0)
    #expect(try store.checkIntegrity() == [])
  }

  @Test func aHardLinkMadeWhileOpenDropsNoLock() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("linked.store")
    let store = try Store(at: path, models: Artist.self)
    try store.write { tx in
      try tx.insert(Artist(id: 1, name: "a"))
      let held = try lockRows(of: path)
      #expect(link(path, directory.file("second.store")) == 0)
      #expect(code { try Store(at: directory.file("second.store")) } == .unsafeLocation)
      #expect(try lockRows(of: path) == held)
    }
  }

  /// The library's own text is the proof that nothing else opens files.
  @Test func onlyOnePlaceOpensFiles() throws {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../Sources").standardizedFileURL
    let opening = try Regex(
      #"\b(FileManager|FileHandle|fopen|freopen|creat|openat|copyItem)\b|(String|Data)\(contentsOf|(^|[^.\w])open\("#
    )
    var found: [String] = []
    let files = ["SchemaCompiler", "ModelStore"].flatMap { folder in
      FileManager.default.enumerator(
        at: sources.appendingPathComponent(folder), includingPropertiesForKeys: nil)?
        .compactMap { $0 as? URL } ?? []
    }
    for url in files where url.pathExtension == "swift" {
      for line in try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
      where line.firstMatch(of: opening) != nil && !line.contains("//") {
        found.append("\(url.lastPathComponent): \(line.trimmingCharacters(in: .whitespaces))")
      }
    }
    #expect(
      found.sorted() == [
        "EmptyFile.swift: let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0o600)",
        // Only a copy that no connection has: before it is opened, and after it was closed.
        "Joining.swift: descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)",
        "Joining.swift: let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)",
        "LogHeader.swift: let descriptor = open(logPath, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)",
        "PartialFile.swift: open(path, flags | O_CLOEXEC)",
        "ReaderPool.swift: let connection = try open()",
        "SharedLedger.swift: func open() throws -> any CommitLedger { try connect() }",
        "SpaceReserve.swift: let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, Self.mode)",
      ])
  }
}
