import CSQLite
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import ModelStore

/// On which thread an awaited read runs, and that it returns the same on each.
///
/// One test at a time, because the records note their threads in one list.
@Suite(.tags(.unit), .serialized, .timeLimit(.minutes(30))) struct AwaitedReadTests {
  /// A record that notes on which thread it was read.
  private struct Place: Model {
    var id: Int64
    var text: String

    static let threads = Mutex<[UInt]>([])

    static let definition = ModelDefinition<Place>(
      "Place", key: \.id, fields: [.init("id", \.id), .init("text", \.text)])

    var key: Int64 { id }

    init(_ id: Int64, text: String = "text") {
      self.id = id
      self.text = text
    }

    init(row: borrowing RowView) throws {
      id = try row.decode(at: 0)
      text = try row.decode(at: 1)
      Self.threads.withLock { $0.append(currentThread()) }
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
      try text.encode(to: &arguments, at: 1)
    }
  }

  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("a.store")
  }

  /// A store with `count` records, all of whose readers are open.
  private func store(count: Int64 = 100, text: String = "text") async throws -> Store {
    var configuration = StoreConfiguration()
    configuration.maxReaderCount = 1
    let store = try await Store(at: path, models: Place.self, configuration: configuration)
    try await store.write { tx in
      for id in 1...count { try tx.insert(Place(id, text: text)) }
    }
    _ = try await store.find(Place.self, 1)
    return store
  }

  /// Runs `read`.
  ///
  /// - Returns: Whether the task's own thread read the last record, and what `read` returned.
  private func reading<Result>(
    _ read: () async throws -> Result
  ) async throws -> (isAtOnce: Bool, result: Result) {
    let (before, own) = Self.beginReading()
    let result = try await read()
    let threads = Place.threads.withLock { $0.dropFirst(before) }
    return (threads.last == own, result)
  }

  private static func beginReading() -> (count: Int, thread: UInt) {
    (Place.threads.withLock { $0.count }, currentThread())
  }

  @Test func aShortReadOfWhatIsInMemoryChangesNoThread() async throws {
    let store = try await store()
    let (isFoundAtOnce, found) = try await reading { try await store.find(Place.self, 7) }
    #expect(isFoundAtOnce && found?.id == 7)
    let (isFetchedAtOnce, fetched) = try await reading {
      try await store.fetch(Place.where { $0.id <= 3 }.order { $0.id })
    }
    #expect(isFetchedAtOnce && fetched.map(\.id) == [1, 2, 3])
    #expect(try await store.count(Place.all) == 100)
    await store.close()
  }

  @Test func aLongReadRunsOnAReadersThreadAndReturnsEachRecordOnce() async throws {
    let store = try await store(count: 5000)
    let (isAtOnce, fetched) = try await reading {
      try await store.fetch(Place.all.order { $0.id })
    }
    #expect(!isAtOnce && fetched.map(\.id) == Array(1...5000))
    // The connection that gave the long read up still reads at once.
    let (isFoundAtOnce, found) = try await reading { try await store.find(Place.self, 4000) }
    #expect(isFoundAtOnce && found?.id == 4000)
    await store.close()
  }

  @Test func aReadOfManyBytesRunsOnAReadersThread() async throws {
    let text = String(repeating: "x", count: 4 << 20)
    let store = try await store(count: 2, text: text)
    let (isAtOnce, found) = try await reading { try await store.find(Place.self, 2) }
    #expect(!isAtOnce && found?.text == text)
    await store.close()
  }

  @Test func aReadSeesEachCommitAndDoesNotWaitForAnOpenWrite() async throws {
    let store = try await store()
    for round in 0..<20 {
      let text = "round \(round)"
      try await store.write { tx in try tx.set(\Place.text, to: text, for: 5) }
      let (isAtOnce, found) = try await reading { try await store.find(Place.self, 5) }
      #expect(isAtOnce && found?.text == text)
    }
    let isWriting = DispatchGate()
    let mayEnd = DispatchGate()
    let writing = Task.detached {
      try await store.write { tx in
        try tx.set(\Place.text, to: "open", for: 5)
        isWriting.open()
        mayEnd.wait()
      }
    }
    await isWriting.opened()
    let (isAtOnce, found) = try await reading { try await store.find(Place.self, 5) }
    #expect(isAtOnce && found?.text == "round 19")
    mayEnd.open()
    try await writing.value
    #expect(try await store.find(Place.self, 5)?.text == "open")
    await store.close()
  }

  @Test func nothingRunsAtOnceOnAReaderThatIsBusy() async throws {
    let store = try await store()
    let readers = store.engine.connections.readers
    let isReading = DispatchGate()
    let mayEnd = DispatchGate()
    let reading = Task.detached {
      try await store.read { tx in
        isReading.open()
        mayEnd.wait()
        return try tx.find(Place.self, 1)?.id
      }
    }
    await isReading.opened()
    #expect(readers.atOnce { _ in 1 } == nil)
    mayEnd.open()
    #expect(try await reading.value == 1)
    #expect(readers.atOnce { _ in 1 } == 1)
    await store.close()
    #expect(readers.atOnce { _ in 1 } == nil)
  }

  /// Lets the system forget a file, as it does when others need the memory.
  private static func dropFromMemory(_ path: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["dd", "of=\(path)", "oflag=nocache", "conv=notrunc,fdatasync", "count=0"]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  /// Whether the temporary directory is on a disk whose files the system can forget.
  private static let forgetsFiles: Bool = {
    do {
      let directory = try TemporaryDirectory()
      return try withExtendedLifetime(directory) {
        let path = directory.file("probe")
        try Data(count: 4 << 20).write(to: URL(fileURLWithPath: path))
        // The first time, the file may still be on its way to the disk.
        for _ in 0..<2 { try dropFromMemory(path) }
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        var byte: UInt8 = 0
        return csqlite_read_cached(file.fileDescriptor, &byte, 1, 2 << 20) == -1
      }
    } catch {
      return false
    }
  }()

  @Test(.enabled(if: forgetsFiles, "Files of the temporary directory stay in memory."))
  func whatIsNotInMemoryIsReadOnAReadersThread() async throws {
    let store = try await store(count: 2000, text: String(repeating: "x", count: 1000))
    try await store.checkpoint()
    var wasOnReadersThread = false
    for id in stride(from: Int64(100), to: 2000, by: 100) {
      try Self.dropFromMemory(path)
      let (isAtOnce, found) = try await reading { try await store.find(Place.self, id) }
      #expect(found?.id == id)
      if !isAtOnce { wasOnReadersThread = true }
      // The reader's thread has read it, so it is in memory.
      let (isAgainAtOnce, again) = try await reading { try await store.find(Place.self, id) }
      #expect(isAgainAtOnce && again?.id == id)
    }
    #expect(wasOnReadersThread)
    await store.close()
  }

  @Test func aThreadThatMayNotWaitFailsToReadAndOthersDoNot() async throws {
    let store = try await store()
    await store.close()
    let policy = StoreConfiguration().connectionPolicy
    let connection = try Connection(path: path, role: .reader, policy: policy)
    func count() throws -> Int64? {
      try connection.firstRow("SELECT count(*) FROM Place") { try $0.integer(at: 0) }
    }
    #expect(throws: SQLiteError.self) {
      try CachedFileReads.limited(toByteCount: 0) { try count() }
    }
    #expect(try count() == 100)
    #expect(!connection.isInTransaction)
  }

  @Test func errorsAreThoseOfAReadersThread() async throws {
    let store = try await store()
    try await store.write { tx in
      try tx.execute("UPDATE Place SET text = CAST(x'ff' AS TEXT) WHERE id = 3")
    }
    let failure = await #expect(throws: StoreError.self) {
      try await store.find(Place.self, 3)
    }
    let expected = #expect(throws: StoreError.self) { try Self.find(3, in: store) }
    #expect(failure?.message == expected?.message && failure?.code == .invalidValue)
    let cancelled = Task { () async throws -> Place? in
      withUnsafeCurrentTask { $0?.cancel() }
      return try await store.find(Place.self, 1)
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    await store.close()
    let closed = await #expect(throws: StoreError.self) { try await store.find(Place.self, 1) }
    #expect(closed?.code == .misuse)
  }

  private static func find(_ id: Int64, in store: Store) throws -> Place? {
    try store.find(Place.self, id)
  }

  @Test func aMonitorReceivesEachReadOnce() async throws {
    let store = try await store(count: 5000)
    let log = EventLog()
    try store.addMonitor(log)
    _ = try await store.find(Place.self, 1)
    _ = try await store.fetch(Place.all)
    _ = try await store.count(Place.all)
    #expect(
      log.taken() == ["reading 1", "read 1", "reading 2", "read 2", "reading 3", "read 3"])
    await store.close()
  }

  @Test func aStoreInMemoryReadsAtOnce() async throws {
    let store = try await Store.inMemory(models: Place.self)
    try await store.write { tx in try tx.insert(Place(1)) }
    _ = try await store.find(Place.self, 1)
    let (isAtOnce, found) = try await reading { try await store.find(Place.self, 1) }
    #expect(isAtOnce && found?.id == 1)
    await store.close()
  }
}
