import Foundation
import Glibc
import Synchronization
import Testing

@testable import ModelStore

/// Opening with `.migrate` that takes long: progress, cancellation, a full disk, and another
/// process that waits for it.
@Suite(.tags(.process), .ownThreads) struct LongMigrationTests {
  private typealias Progress = StoreConfiguration.SchemaProgress

  private static let rowCount = 45_001
  private static let rows: SQLText = """
    WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(rowCount))
    INSERT INTO Todo (id, title, list, size) SELECT i, 'title ' || i, 1, i FROM n
    """

  private static let oldModels = MigrateOnOpeningTests.models()
  /// A new rule, for which the table is copied.
  private static let newModels = MigrateOnOpeningTests.models { model in
    model.rules = [RuleSchema(name: "Todo.small", message: "", condition: "size < 1000000")]
  }

  private static func configuration(
    _ report: (@Sendable (String, Int, Int) throws -> Void)? = nil
  ) -> StoreConfiguration {
    StoreConfiguration(
      durability: .normal, busyTimeout: .seconds(60), schemaChanges: .migrate,
      schemaProgress: report.map { Progress($0) }, changeJournal: .full)
  }

  private static func migrate(
    _ path: String, bindings: [FieldBinding] = [], _ configuration: StoreConfiguration
  ) throws {
    try Store(
      at: path,
      declaring: Declarations(
        models: newModels, bindings: bindings, changeJournal: .full),
      configuration: configuration, onError: { Issue.record($0) }
    ).close()
  }

  /// A file of the old version with many records.
  private struct World {
    let directory: TemporaryDirectory
    let path: String

    init(at path: String? = nil) throws {
      directory = try TemporaryDirectory()
      self.path = path ?? directory.file("long.store")
      let store = try Store(
        at: self.path, declaring: Declarations(models: oldModels, changeJournal: .full),
        configuration: LongMigrationTests.configuration(), onError: { Issue.record($0) })
      try store.write { tx in
        try tx.execute("INSERT INTO List VALUES (1, 'home')")
        try tx.execute(LongMigrationTests.rows)
      }
      store.close()
    }

    /// Every object and row of the file.
    func content() throws -> [[SQLValue]] {
      let file = try PlainDatabase(path)
      let objects = try file.rows(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid")
      return try objects + file.rows("SELECT * FROM Todo ORDER BY id")
        + file.rows("SELECT * FROM _ms_journal ORDER BY position")
        + file.rows("PRAGMA integrity_check")
    }

    var isNew: Bool {
      get throws {
        try PlainDatabase(path).rows(
          "SELECT 1 FROM sqlite_schema WHERE name = 'Todo' AND sql LIKE '%Todo.small%'"
        ).count == 1
      }
    }
  }

  @Test func progressIsReportedForCopiesAndForBoundFields() throws {
    let world = try World()
    let calls = Recorder<String>()
    try Self.migrate(
      world.path, bindings: [MigrateOnOpeningTests.binding],
      Self.configuration { calls.add("\($0) \($1) of \($2)") })
    #expect(
      calls.events
        == [0, 20_000, 40_000, 45_001, 0, 16_384, 32_768, 45_001]
        .map { "Todo \($0) of 45001" })
    #expect(try world.isNew)
  }

  @Test func anErrorOfTheClosureLeavesTheFileAsItWas() throws {
    struct Stop: Error {}
    let world = try World()
    let before = try world.content()
    for part in [0, 40_000, 45_001] {
      #expect(throws: Stop.self) {
        try Self.migrate(
          world.path, Self.configuration { _, done, _ in if done == part { throw Stop() } })
      }
      #expect(try world.content() == before, "\(part)")
    }
    try Self.migrate(world.path, Self.configuration())
    #expect(try world.isNew)
  }

  @Test(arguments: [0, 20_000, 45_001])
  func cancellingTheTaskLeavesTheFileAsItWas(part: Int) async throws {
    let world = try World()
    let before = try world.content()
    let isReached = DispatchSemaphore(value: 0)
    let mayGoOn = DispatchSemaphore(value: 0)
    let parts = Recorder<Int>()
    let configuration = Self.configuration { _, done, _ in
      parts.add(done)
      guard done == part else { return }
      isReached.signal()
      mayGoOn.wait()
    }
    let task = Task {
      let store = try await Store(
        at: world.path, models: [NewTodoList.self, NewTodo.self], configuration: configuration)
      await store.close()
    }
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "test.cancel").async {
        isReached.wait()
        task.cancel()
        mayGoOn.signal()
        continuation.resume()
      }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(parts.events.last == part)
    #expect(try world.content() == before)
    try Self.migrate(world.path, Self.configuration())
    #expect(try world.isNew)
  }

  @Test(.enabled(if: DiskFullTests.SmallDisk.isPossible, "only root can mount a small disk"))
  func aFullDiskLeavesTheFileAsItWas() throws {
    let disk = try DiskFullTests.SmallDisk(kilobytes: 16 << 10)
    let world = try World(at: disk.path + "/long.store")
    let before = try world.content()
    let ballast = disk.path + "/ballast"
    let free = (16 << 20) - (try disk.usedByteCount)
    // The copy of the table takes more than this.
    try write([UInt8](repeating: 1, count: free - (400 << 10)), to: ballast)
    let parts = Recorder<Int>()
    var configuration = Self.configuration { _, done, _ in parts.add(done) }
    // Pages that do not fit are written to the log before the commit.
    configuration.cacheSize = 256 << 10
    let error = failure { try Self.migrate(world.path, configuration) }
    #expect(error?.code == .outOfSpace, "\(error as Any)")
    #expect(parts.events.first == 0 && parts.events.last != Self.rowCount, "\(parts.events)")
    #expect(try world.content() == before)
    #expect(unlink(ballast) == 0)
    try Self.migrate(world.path, Self.configuration())
    #expect(try world.isNew)
  }

  /// Migrates in another process, which waits in the middle until this one has begun to open the
  /// file.
  @Test func aSecondProcessWaitsAndFindsNothingToDo() async throws {
    let world = try World()
    let path = world.path
    let isDone = DispatchSemaphore(value: 0)
    let failures = Recorder<String>()
    DispatchQueue(label: "test.second").async {
      do {
        while access(path + ".copying", F_OK) != 0 { sched_yield() }
        var configuration = Self.configuration { model, done, all in
          failures.add("\(model) \(done) of \(all) in the second process")
        }
        // Called while the store waits for the other one's lock.
        configuration.stopRequest = StopRequest {
          close(Glibc.open(path + ".waiting", O_CREAT | O_WRONLY, 0o600))
          return false
        }
        try Self.migrate(path, configuration)
      } catch {
        failures.add("\(error)")
      }
      isDone.signal()
    }
    await #expect(processExitsWith: .success) { [path = path as String] in
      try LongMigrationTests.migrate(
        path,
        LongMigrationTests.configuration { _, done, _ in
          guard done == 20_000 else { return }
          close(Glibc.open(path + ".copying", O_CREAT | O_WRONLY, 0o600))
          while access(path + ".waiting", F_OK) != 0 { sched_yield() }
        })
    }
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "test.end").async {
        isDone.wait()
        continuation.resume()
      }
    }
    #expect(failures.events == [])
    #expect(try world.isNew)
    #expect(
      try PlainDatabase(path).rows("SELECT model, contender FROM _ms_superseded")
        == [[.text("Todo"), .text("")]])
  }
}

/// The list of ``NewTodo``.
private struct NewTodoList: Model {
  var id: Int64
  var name: String

  static let definition = ModelDefinition<NewTodoList>(
    "List", key: \.id, fields: [.init("id", \.id), .init("name", \.name)])

  var key: Int64 { id }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    name = try row.decode(at: 1)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try name.encode(to: &arguments, at: 1)
  }
}

/// The new version's model as a type, for the asynchronous form.
private struct NewTodo: Model {
  var id: Int64
  var title: String?
  var list: Int64
  var size: Int64?
  var listName: String?

  static let definition = ModelDefinition<NewTodo>(
    "Todo", key: \.id,
    fields: [
      .init("id", \.id), .init("title", \.title),
      .init("list", \.list, reference: ReferenceSchema(table: "List", onDelete: .cascade)),
      .init("size", \.size), .init("listName", \.listName),
    ],
    rules: [RuleSchema(name: "Todo.small", message: "", condition: "size < 1000000")])

  var key: Int64 { id }

  init(row: borrowing RowView) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    list = try row.decode(at: 2)
    size = try row.decode(at: 3)
    listName = try row.decode(at: 4)
  }

  func encode(to arguments: inout ArgumentWriter) throws {
    try id.encode(to: &arguments, at: 0)
    try title.encode(to: &arguments, at: 1)
    try list.encode(to: &arguments, at: 2)
    try size.encode(to: &arguments, at: 3)
    try listName.encode(to: &arguments, at: 4)
  }
}
