import Synchronization
import Testing

@testable import ModelStore

/// What ends a shared transaction early: cancelled tasks, and what makes SQLite roll back
/// everything.
@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct SharedCommitEndingTests {
  typealias Body = @Sendable (borrowing WriteTransaction) throws -> Void

  private let directory: TemporaryDirectory
  private let store: Store

  init() throws {
    directory = try TemporaryDirectory()
    store = try Store(at: directory.file("a.store"), models: Artist.self, Album.self)
  }

  private static func insert(_ id: Int64, _ name: String = "a") -> Body {
    { tx in try tx.insert(Artist(id: id, name: name)) }
  }

  private func ids() throws -> [Int64] { try store.fetch(Artist.all).map(\.id) }

  // Cancelling

  @Test func aCancelledWriteThatHasNotBegunIsSkipped() async throws {
    let held = await HeldWriter(store)
    let first = await held.add(Self.insert(1))
    let cancelled = await held.add { _ in Issue.record("A cancelled write ran.") }
    let last = await held.add(Self.insert(3))
    cancelled.cancel()
    held.release()
    try await first.value
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    try await last.value
    #expect(try ids() == [1, 3])
  }

  /// - Parameter index: The place of the cancelled write among three.
  @Test(arguments: [0, 1, 2]) func cancellingARunningWriteLeavesTheOthers(index: Int) async throws {
    let running = AsyncStream.makeStream(of: Void.self)
    let goOn = DispatchGate()
    let held = await HeldWriter(store)
    var tasks: [Task<Void, any Error>] = []
    for place in 0..<3 {
      guard place == index else {
        tasks.append(await held.add(Self.insert(Int64(place))))
        continue
      }
      tasks.append(
        await held.add { tx in
          try tx.insert(Artist(id: 7, name: "cancelled"))
          running.continuation.finish()
          goOn.wait()
          try tx.insert(Artist(id: 8, name: "cancelled"))
          Issue.record("A statement ran after the task was cancelled.")
        })
    }
    held.release()
    for await _ in running.stream {}
    tasks[index].cancel()
    goOn.open()
    for place in 0..<3 {
      if place == index {
        await #expect(throws: CancellationError.self) { try await tasks[place].value }
      } else {
        try await tasks[place].value
      }
    }
    #expect(try ids() == [0, 1, 2].filter { $0 != index })
  }

  private static let endless: SQLText =
    "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"

  @Test(arguments: [0, 1]) func cancellingStopsAStatementThatOnlyReads(index: Int) async throws {
    let running = AsyncStream.makeStream(of: Void.self)
    let held = await HeldWriter(store)
    let reading: Body = { tx in
      try tx.insert(Artist(id: 7, name: "cancelled"))
      running.continuation.finish()
      _ = try tx.rows(Self.endless)
    }
    var tasks: [Task<Void, any Error>] = []
    for place in 0..<3 {
      tasks.append(await held.add(place == index ? reading : Self.insert(Int64(place))))
    }
    held.release()
    for await _ in running.stream {}
    tasks[index].cancel()
    for place in 0..<3 {
      if place == index {
        await #expect(throws: CancellationError.self) { try await tasks[place].value }
      } else {
        try await tasks[place].value
      }
    }
    #expect(try ids() == [0, 1, 2].filter { $0 != index })
  }

  /// SQLite rolls the whole transaction back if an INSERT is interrupted. So the statement runs to
  /// its end, and the write is undone after it.
  @Test func cancellingDoesNotInterruptAStatementThatWrites() async throws {
    let log = try StatementLog(store)
    let running = Mutex<Task<Void, any Error>?>(nil)
    let held = await HeldWriter(store)
    let first = await held.add(Self.insert(1))
    let writing = await held.add { tx in
      running.withLock { $0?.cancel() }
      // Below the checks of the library: what a statement would meet that already runs.
      try tx.access.connection.run(
        """
        WITH RECURSIVE n(x) AS (VALUES (10) UNION ALL SELECT x + 1 FROM n WHERE x < 20000)
        INSERT INTO Artist SELECT x, 'many' FROM n
        """)
      try tx.execute("SELECT 1")
    }
    running.withLock { $0 = writing }
    let last = await held.add(Self.insert(3))
    held.release()
    try await first.value
    await #expect(throws: CancellationError.self) { try await writing.value }
    try await last.value
    #expect(log.takenCount(of: "COMMIT") == 1)
    try log.stop()
    #expect(try ids() == [1, 3])
  }

  /// SQLite forgets an interruption while no statement runs. Once, a task that was cancelled just
  /// before a statement began waited for the statement's end.
  @Test func aStatementThatBeginsJustAfterTheCancellationStopsToo() async throws {
    let error = await #expect(throws: StoreError.self) {
      try await store.write { tx in
        tx.access.connection.interrupt()
        _ = try tx.access.connection.rows(Self.endless) { try $0.integer(at: 0) }
      }
    }
    #expect(error?.code == .cancelled)
    try await store.write(Self.insert(1))
    #expect(try ids() == [1])
  }

  @Test func aWriteThatIsCancelledAfterItsBodyIsKept() async throws {
    let ended = Mutex<Task<Void, any Error>?>(nil)
    let held = await HeldWriter(store)
    let first = await held.add(Self.insert(1))
    ended.withLock { $0 = first }
    let second = await held.add { tx in
      ended.withLock { $0?.cancel() }
      try tx.insert(Artist(id: 2, name: "b"))
    }
    held.release()
    try await first.value
    try await second.value
    #expect(try ids() == [1, 2])
  }

  // What rolls everything back

  @Test func aWriteThatRollsEverythingBackFailsThoseBeforeItAsRetryable() async throws {
    let ran = Recorder<Int>()
    func counted(_ number: Int, _ body: @escaping Body) -> Body {
      { tx in
        ran.add(number)
        try body(tx)
      }
    }
    let events = Recorder<String>()
    let token = try store.observe(Artist.self) { changes in
      events.add(changes.changes.map(\.change.line).joined())
    }
    let errors = await HeldWriter.run(
      on: store,
      [
        counted(1, Self.insert(1)), counted(2, Self.insert(2)),
        counted(3) { tx in try tx.execute("INSERT OR ROLLBACK INTO Artist VALUES (1, 'again')") },
        counted(4, Self.insert(4)),
      ])
    await store.waitForDelivery()
    token.cancel()
    let failures = errors.map { $0 as? StoreError }
    #expect(failures.map { $0?.code } == [.busy, .busy, .rejected, nil])
    #expect(failures.map { $0?.isRetryable } == [true, true, false, nil])
    #expect(ran.events == [1, 2, 3, 4])
    #expect(try ids() == [4])
    #expect(events.events == ["insert Artist 4 (4, 'a') user"])
  }

  @Test func aWriteThatHidesTheRollbackFailsTheOthersToo() async throws {
    let errors = await HeldWriter.run(
      on: store,
      [
        Self.insert(1),
        { tx in
          _ = failure { try tx.execute("INSERT OR ROLLBACK INTO Artist VALUES (1, 'again')") }
        }, Self.insert(3),
      ])
    #expect(errors.map { ($0 as? StoreError)?.code } == [.busy, .rejected, nil])
    #expect(try ids() == [3])
  }

  /// After such a failure, writes share no COMMIT until one of them has succeeded.
  @Test func writesRunAloneAfterARollback() async throws {
    let rollback: Body = { tx in
      try tx.execute("INSERT OR ROLLBACK INTO Artist VALUES (1, 'x'), (1, 'x')")
    }
    let log = try StatementLog(store)
    let errors = await HeldWriter.run(
      on: store,
      [Self.insert(1), rollback, rollback, Self.insert(4), Self.insert(5), Self.insert(6)])
    #expect(
      errors.map { ($0 as? StoreError)?.code } == [.busy, .rejected, .rejected, nil, nil, nil])
    // The third and fourth run alone, the last two together.
    let words = ["BEGIN IMMEDIATE": "begin", "SAVEPOINT share": "body", "COMMIT": "commit"]
    #expect(
      log.taken().compactMap { words[$0] } == [
        "begin", "body", "body", "begin", "begin", "commit", "begin", "body", "body", "commit",
      ])
    try log.stop()
    #expect(try ids() == [4, 5, 6])
  }

  @Test func aWriteThatChangesTheSchemaIsTheLastOfItsTransaction() async throws {
    let errors = await HeldWriter.run(
      on: store,
      [
        Self.insert(1), { tx in try tx.execute("CREATE TABLE other(x)") }, Self.insert(3),
        Self.insert(4),
      ])
    #expect(errors.allSatisfy { $0 == nil })
    #expect(store.engine.line.transactionCount == 2)
    #expect(try ids() == [1, 3, 4])
  }

  @Test func aClosedStoreKeepsWhatIsDoneAndFailsWhatWaits() async throws {
    let closing = store
    let begun = AsyncStream.makeStream(of: Void.self)
    let goOn = DispatchGate()
    let held = await HeldWriter(store)
    let first = await held.add { tx in
      begun.continuation.finish()
      goOn.wait()
      try tx.insert(Artist(id: 1, name: "a"))
    }
    let second = await held.add(Self.insert(2))
    held.release()
    for await _ in begun.stream {}
    let writer = closing.engine.connections.writer
    let closed = Task.detached { await closing.close() }
    while !writer.isClosing { await Task.yield() }
    goOn.open()
    try await first.value
    await #expect(throws: StoreError.self) { try await second.value }
    await closed.value
    let again = try await Store(at: directory.file("a.store"), models: Artist.self, Album.self)
    #expect(try await again.fetch(Artist.all).map(\.id) == [1])
  }
}
