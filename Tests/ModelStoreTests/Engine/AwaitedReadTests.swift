import Dispatch
import Foundation
import Synchronization
import Testing

@testable import ModelStore

/// On which thread an awaited read runs, and that it returns the same on each.
///
/// One test at a time, because the records note their threads in one list.
@Suite(
  .tags(.unit), .serialized, .timeLimit(.minutes(30)),
  .enabled(if: MemoryProbe.readsAtOnce, "The system cannot read a file without waiting."))
struct AwaitedReadTests {
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
    // Where a thread is interrupted, the time for the rows may be over.
    var isFetchedAtOnce = false
    for _ in 0..<1000 where !isFetchedAtOnce {
      let (isAtOnce, fetched) = try await reading {
        try await store.fetch(Place.where { $0.id <= 3 }.order { $0.id })
      }
      #expect(fetched.map(\.id) == [1, 2, 3])
      isFetchedAtOnce = isAtOnce
    }
    #expect(isFetchedAtOnce)
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

  /// A step of SQL text may take as long as a full-text search.
  @Test func aQueryWithSQLTextRunsOnAReadersThread() async throws {
    let store = try await store()
    for query in [
      Place.where { _ in .sql("id = 7") }, Place.where { $0.id <= 7 && .sql("id >= 7") },
    ] {
      // Preparing a statement can take longer than a read at once may take. Then it would change
      // the thread in any case.
      _ = try await store.fetch(query)
      let (isAtOnce, fetched) = try await reading { try await store.fetch(query) }
      #expect(!isAtOnce && fetched.map(\.id) == [7])
    }
    await store.close()
  }

  /// A record that takes longer to decode than reads at once may take.
  private struct Slow: Model {
    var id: Int64

    static let threads = Mutex<[UInt]>([])

    static let definition = ModelDefinition<Slow>(
      "Slow", key: \.id, fields: [.init("id", \.id)])

    var key: Int64 { id }

    init(_ id: Int64) { self.id = id }

    init(row: borrowing RowView) throws {
      id = try row.decode(at: 0)
      Self.threads.withLock { $0.append(currentThread()) }
      let end = ContinuousClock.now + .milliseconds(1)
      while ContinuousClock.now < end {}
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
    }
  }

  @Test func rowsThatTakeLongToDecodeAreReadOnAReadersThread() async throws {
    let store = try await Store(at: directory.file("slow.store"), models: Slow.self)
    try await store.write { tx in for id in Int64(1)...5 { try tx.insert(Slow(id)) } }
    _ = try await store.find(Slow.self, 1)
    Slow.threads.withLock { $0 = [] }
    let own = currentThread()
    #expect(try await store.fetch(Slow.all.order { $0.id }).map(\.id) == [1, 2, 3, 4, 5])
    // At most one row is decoded on the task's thread before it is given up.
    let threads = Slow.threads.withLock { $0 }
    #expect(threads.count { $0 == own } <= 1 && threads.count { $0 != own } == 5)
    await store.close()
  }

  @Test func aReadOfManyBytesRunsOnAReadersThread() async throws {
    let text = String(repeating: "x", count: 4 << 20)
    let store = try await store(count: 2, text: text)
    let (isAtOnce, found) = try await reading { try await store.find(Place.self, 2) }
    #expect(!isAtOnce && found?.text == text)
    await store.close()
  }

  @Test func aReadOfManyBytesInMemoryRunsOnAReadersThread() async throws {
    let text = String(repeating: "x", count: 4 << 20)
    let store = try await Store.inMemory(models: Place.self)
    try await store.write { tx in try tx.insert(Place(1, text: text)) }
    _ = try await store.count(Place.all)
    let (isAtOnce, found) = try await reading { try await store.find(Place.self, 1) }
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

  @Test func theEndOfAFileIsNotTakenForZeros() {
    #expect(
      MemoryProbe.withFile(byteCount: 1) { file, _ in
        MemoryProbe.readCached(file, at: 1) == (-1, EAGAIN)
      })
  }

  @Test(.enabled(if: MemoryProbe.forgetsFiles, "Files of the temporary directory stay in memory."))
  func whatIsNotInMemoryIsReadOnAReadersThread() async throws {
    let store = try await store(count: 2000, text: String(repeating: "x", count: 1000))
    try await store.checkpoint()
    var wasOnReadersThread = false
    for id in stride(from: Int64(100), to: 2000, by: 100) {
      try MemoryProbe.dropFromMemory(path)
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

  /// A record that reads another file when it is read.
  private struct Reference: Model {
    var id: Int64
    var text: String?

    static let places = Mutex<Store?>(nil)

    static let definition = ModelDefinition<Reference>(
      "Reference", key: \.id, fields: [.init("id", \.id)])

    var key: Int64 { id }

    init(id: Int64) { self.id = id }

    init(row: borrowing RowView) throws {
      let key: Int64 = try row.decode(at: 0)
      id = key
      let places = Self.places.withLock { $0 }
      // A program may take an error for a missing record.
      do { text = try places?.find(Place.self, key)?.text } catch { text = "\(error)" }
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
    }
  }

  @Test(.enabled(if: MemoryProbe.forgetsFiles, "Files of the temporary directory stay in memory."))
  func codeOfTheProgramMayWaitForTheDisk() async throws {
    let text = String(repeating: "x", count: 1000)
    let places = try await store(count: 2000, text: text)
    try await places.checkpoint()
    let references = try await Store(at: directory.file("b.store"), models: Reference.self)
    try await references.write { tx in
      for id in Int64(1)...2000 { try tx.insert(Reference(id: id)) }
    }
    Reference.places.withLock { $0 = places }
    defer { Reference.places.withLock { $0 = nil } }
    for id in stride(from: Int64(100), to: 2000, by: 100) {
      try MemoryProbe.dropFromMemory(path)
      #expect(try await references.find(Reference.self, id)?.text == text)
      try MemoryProbe.dropFromMemory(path)
      let fetched = try await references.fetch(Reference.where { $0.id == id })
      #expect(fetched.map(\.text) == [text])
    }
    await references.close()
    await places.close()
  }

  @Test func aThreadThatMayNotWaitFailsToReadAndOthersDoNot() async throws {
    let store = try await store()
    await store.close()
    let policy = StoreConfiguration().connectionPolicy
    let connection = try Connection(path: path, role: .reader, policy: policy)
    func count() throws -> Int64? {
      try connection.firstRow("SELECT count(*) FROM Place") { try $0.integer(at: 0) }
    }
    var nothing = CachedFileReads.Allowance(byteCount: 0, deadline: .distantFuture)
    #expect(throws: SQLiteError.self) {
      try CachedFileReads.limited(to: &nothing) { try count() }
    }
    // Another thread waits for the disk meanwhile.
    let counted = Recorder<Int64?>()
    CachedFileReads.limited(to: &nothing) {
      let hasCounted = DispatchSemaphore(value: 0)
      Thread { [path] in
        do {
          let other = try Connection(path: path, role: .reader, policy: policy)
          counted.add(
            try other.firstRow("SELECT count(*) FROM Place") { try $0.integer(at: 0) })
        } catch {
          Issue.record(error)
        }
        hasCounted.signal()
      }.start()
      hasCounted.wait()
    }
    #expect(counted.events == [100])
    #expect(nothing.isSupported && !CachedFileReads.isLimited)
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
    let log = EventLog(slowStatementDuration: .zero)
    try store.addMonitor(log)
    _ = try await store.find(Place.self, 1)
    _ = try await store.fetch(Place.all)
    #expect(
      log.taken().map { $0.hasPrefix("slow") ? "slow" : $0 }
        == ["reading 1", "slow", "read 1", "reading 2", "slow", "read 2"])
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
