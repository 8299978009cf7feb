import CFaultVFS
import Testing

@testable import ModelStore

/// Health of a store, and its end in order.
@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct ShutDownTests {
  private let directory: TemporaryDirectory
  private let store: Store

  init() throws {
    directory = try TemporaryDirectory()
    store = try Store(at: directory.file("a.store"), models: Artist.self)
  }

  private func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  /// The keys in the file, read by a store of its own.
  private func keptKeys() throws -> [Int64] {
    try Store(at: directory.file("a.store"), models: Artist.self).fetch(Artist.all).map(\.id)
  }

  private func insert(_ id: Int64) throws {
    try store.write { tx in _ = try tx.insert(Artist(id: id, name: "a")) }
  }

  private func observe(_ recorder: Recorder<Int64>) throws -> ObservationToken {
    try store.observe(Artist.self) { event in
      for change in event.changes.compactMap({ $0.new ?? $0.old }) { recorder.add(change.key) }
    }
  }

  private func fetch() throws { _ = try store.fetch(Artist.all) }

  @Test func writesThatWaitAreKeptAndTheirEventsDelivered() async throws {
    let held = await HeldWriter(store)
    let recorder = Recorder<Int64>()
    let token = try observe(recorder)
    // Each write has a transaction of its own, so the turn that ends leaves the others to the next.
    store.engine.line.setDurationMax(.zero)
    var writes: [Task<Void, any Error>] = []
    for id in 1...3 {
      writes.append(await held.add { tx in _ = try tx.insert(Artist(id: Int64(id), name: "a")) })
    }
    let ending = Task.immediate { [store] in try await store.shutDown(within: .seconds(600)) }
    #expect(code { try insert(9) } == .shuttingDown)
    held.release()
    for write in writes { try await write.value }
    try await ending.value
    #expect(recorder.events == [1, 2, 3])
    #expect(code { try fetch() } == .misuse)
    #expect(try keptKeys() == [1, 2, 3])
    token.cancel()
  }

  @Test func afterTheDeadlineTheStoreClosesAndKeepsWhatWasCommitted() async throws {
    try insert(1)
    let held = await HeldWriter(store)
    await #expect {
      try await store.shutDown(within: .milliseconds(1))
    } throws: { error in
      (error as? StoreError)?.code == .shuttingDown
    }
    held.release()
    #expect(code { try fetch() } == .misuse)
    #expect(try keptKeys() == [1])
  }

  @Test func aFailingCheckpointIsThrownAndTheStoreIsClosed() async throws {
    let faulty = try FaultyStore()
    let store = try faulty.open(checkpointFrameCount: .max)
    try await store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    // The checkpoint writes into the database; commits write only into the log.
    let fault = fault_vfs_arm(.write, faulty.path, 1, ExtendedCode.ioWrite, .none, .sticky)
    await #expect {
      try await store.shutDown(within: .seconds(600))
    } throws: { error in
      (error as? StoreError)?.code == .ioFailure
    }
    #expect(fault_vfs_fired(fault) > 0)
    fault_vfs_disarm(fault)
    await #expect {
      _ = try await store.fetch(Artist.all)
    } throws: { error in
      (error as? StoreError)?.code == .misuse
    }
    #expect(try await faulty.open().fetch(Artist.all).map(\.id) == [1])
  }

  @Test func anotherStoreOnTheFileKeepsWriting() async throws {
    let other = try await Store(at: directory.file("a.store"), models: Artist.self)
    try await store.shutDown(within: .seconds(600))
    try await other.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    #expect(try await other.count(Artist.all) == 1)
  }

  @Test func aSoundStoreIsWritable() throws {
    try store.changeJournal.enable(.full)
    _ = try store.consumer("mirror")
    try insert(1)
    let health = try store.health()
    #expect(health.isWritable && health.obstacle == nil && health.drift == [])
    #expect(health.logByteCount > 0 && (health.freeByteCount ?? 0) > 0)
    #expect(health.consumerLags.map { $0.key } == ["mirror"] && health.consumerLags["mirror"] != 0)
    #expect(health.sqliteVersion == Store.sqliteVersion && health.oldestRead == nil)
  }

  @Test func theOldestReadIsSeenOnceHealthWasAsked() throws {
    _ = try store.health()
    let other = try Store(at: directory.file("a.store"), models: Artist.self)
    let age = try store.read { _ in try other.health().oldestRead }
    #expect(age != nil)
    #expect(try store.health().oldestRead == nil)
  }

  @Test func whatPreventsAWriteIsSaid() throws {
    store.lease.refuseWrites()
    #expect(code { try insert(1) } == .shuttingDown)
    #expect(
      try store.health().obstacle
        == "The store is shutting down and accepts no new write. Nothing was changed.")
    store.close()
    let reader = try Store(
      at: directory.file("a.store"), models: Artist.self,
      configuration: StoreConfiguration(access: .readOnly))
    #expect(try reader.health().isWritable == false)
  }

  @Test func driftIsNamed() throws {
    try store.changeJournal.enable(.full)
    let trigger = try store.read { tx in
      try tx.rows(
        "SELECT name FROM sqlite_schema WHERE name GLOB '_ms_journal*' AND type = 'trigger'")
    }
    guard case .text(let name)? = trigger.first?.values.first else {
      Issue.record("The journal has no trigger.")
      return
    }
    try PlainDatabase(directory.file("a.store")).execute("DROP TRIGGER \(name)")
    #expect(try store.health().drift == ["Artist"])
  }
}
