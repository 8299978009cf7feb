import CFaultVFS
import Testing

@testable import ModelStore

/// What monitors receive of writes, reads and upkeep.
@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct MonitorTests {
  private let directory: TemporaryDirectory
  private let store: Store
  private let log = EventLog()

  init() throws {
    directory = try TemporaryDirectory()
    store = try Store(at: directory.file("a.store"), models: Artist.self)
    try store.addMonitor(log)
  }

  private struct Refusal: Error {}

  private func insert(_ id: Int64, _ name: String = "a") throws {
    try store.write { tx in try tx.insert(Artist(id: id, name: name)) }
  }

  @Test func aWriteIsReportedWithItsOutcomeAndRows() throws {
    try insert(1)
    #expect(throws: StoreError.self) { try insert(2, "") }
    #expect(throws: Refusal.self) { try store.write { _ in throw Refusal() } }
    #expect(
      log.taken() == [
        "queued 1", "began 1", "ended 1 committed rows 1 sharing 1",
        "queued 2", "began 2",
        "ended 2 refused [\"Artist.name.length\"] rows 0 sharing 0",
        "queued 3", "began 3", "ended 3 rolled back Refusal rows 0 sharing 0",
      ])
  }

  @Test func theStepsOfAWriteAddUpToNoMoreThanItsWholeTime() throws {
    try insert(1)
    let times = try #require(log.writes.first).times
    let sum = times.steps.reduce(Duration.zero) { $0 + $1.duration }
    #expect(sum <= times.total && times.steps.allSatisfy { $0.duration >= .zero })
    // Every step was reached.
    #expect(times.steps.allSatisfy { $0.duration > .zero }, "\(times.steps)")
  }

  @Test func aWriteThatCommitRefusesChangedNoRow() throws {
    #expect(throws: StoreError.self) {
      try store.write { tx in
        try tx.deferReferenceChecks()
        try tx.execute("CREATE TABLE Child (id INTEGER PRIMARY KEY, a INTEGER REFERENCES Artist)")
        try tx.execute("INSERT INTO Child VALUES (1, 99)")
      }
    }
    #expect(log.writes.map(\.changedRowCount) == [0])
    #expect(log.writes.map(\.sharingCount) == [0])
  }

  @Test func anUnknownOutcomeIsAnOutcomeOfItsOwn() {
    guard case .unknown(let error) = WriteReport.Outcome(StoreError(.outcomeUnknown, "cut")) else {
      Issue.record("It is not an unknown outcome.")
      return
    }
    #expect(error.code == .outcomeUnknown)
  }

  @Test func theShortestDurationOfTheMonitorsThatListenCounts() throws {
    let monitors = Monitors()
    monitors.add(EventLog(slowStatementDuration: .seconds(5)), of: 1)
    monitors.add(EventLog(slowStatementDuration: .seconds(2)), of: 2)
    #expect(monitors.slowStatementDuration == .seconds(2))
    monitors.remove(of: 2)
    #expect(monitors.slowStatementDuration == .seconds(5))
    monitors.remove(of: 1)
    #expect(monitors.slowStatementDuration == nil)
  }

  @Test func writesThatShareACommitAreReportedOneByOne() async throws {
    let errors = await HeldWriter.run(
      on: store,
      [
        { tx in try tx.insert(Artist(id: 1, name: "a")) },
        { tx in try tx.insert(Artist(id: 2, name: "")) },
        { tx in
          try tx.insert(Artist(id: 3, name: "c"))
          try tx.insert(Artist(id: 4, name: "d"))
        },
      ])
    #expect(errors.map { $0 == nil } == [true, false, true])
    let ended = log.taken().filter { $0.hasPrefix("ended") }.sorted()
    #expect(
      ended == [
        "ended 1 committed rows 1 sharing 2",
        "ended 2 refused [\"Artist.name.length\"] rows 0 sharing 0",
        "ended 3 committed rows 2 sharing 2",
      ])
  }

  /// Post-mortem: the wait for another process counted as a wait for earlier writes.
  @Test func theBeginningOfASharedCommitIsTimed() async throws {
    _ = await HeldWriter.run(
      on: store,
      [
        { tx in try tx.insert(Artist(id: 1, name: "a")) },
        { tx in try tx.insert(Artist(id: 2, name: "b")) },
      ])
    #expect(log.writes.map(\.sharingCount) == [2, 2])
    #expect(log.writes.map { $0.times.begin > .zero } == [true, false])
    #expect(
      log.taken().filter { !$0.hasPrefix("ended") } == [
        "queued 1", "queued 2", "began 1", "began 2",
      ])
  }

  @Test func withoutAMonitorNoEventIsMadeAndNothingAllocated() {
    let monitors = Monitors()
    var madeCount = 0
    var timerCount = 0
    func event() -> StoreEvent {
      madeCount += 1
      return .resync
    }
    func send() {
      monitors.send(event())
      if monitors.timeWrite() != nil || monitors.timeRead() != nil { timerCount += 1 }
      if monitors.slowStatementDuration != nil { timerCount += 1 }
    }
    send()
    let isCounting = allocation_count_begin() != 0
    for _ in 0..<100 { send() }
    let allocationCount = allocation_count_end()
    #expect(madeCount == 0 && timerCount == 0)
    if isCounting { #expect(allocationCount == 0) }
    monitors.add(log, of: 1)
    send()
    #expect(madeCount == 1 && timerCount == 1)
  }

  /// The synchronous forms, which an asynchronous function cannot name.
  private func writeReturningChangesAndPreview() throws {
    _ = try store.writeReturningChanges { tx in try tx.insert(Artist(id: 1, name: "a")) }
    _ = try store.preview { tx in try tx.insert(Artist(id: 5, name: "a")) }
  }

  @Test func everyFormOfWritingIsReportedAndAPreviewIsNot() async throws {
    try writeReturningChangesAndPreview()
    try await store.writeAlone { tx in try tx.insert(Artist(id: 2, name: "a")) }
    try await store.write { tx in try tx.insert(Artist(id: 3, name: "a")) }
    _ = try await store.writeReturningChanges { tx in try tx.insert(Artist(id: 4, name: "a")) }
    #expect(log.writes.map(\.changedRowCount) == [1, 1, 1, 1])
  }

  /// The synchronous forms, which an asynchronous function cannot name.
  private func readInEachForm() throws {
    _ = try store.read { tx in try tx.fetch(Artist.all) }
    _ = try store.fetch(Artist.all)
    _ = try store.find(Artist.self, 1)
    #expect(throws: StoreError.self) { try store.read { tx in try tx.rows("SELECT nothing") } }
  }

  @Test func everyFormOfReadingIsReported() async throws {
    try readInEachForm()
    _ = try await store.read { tx in try tx.fetch(Artist.all) }
    _ = try await store.fetch(Artist.all)
    _ = try await store.find(Artist.self, 1)
    #expect(
      log.taken() == [
        "reading 1", "read 1", "reading 2", "read 2", "reading 3", "read 3",
        "reading 4", "read 4 failed", "reading 5", "read 5", "reading 6", "read 6",
        "reading 7", "read 7",
      ])
  }

  @Test func aSlowStatementIsReportedWithItsPlanAndWithoutItsValues() throws {
    let slow = EventLog(slowStatementDuration: .zero)
    try store.addMonitor(slow)
    let name = "secret"
    _ = try store.read { tx in try tx.rows("SELECT id FROM Artist WHERE name = \(name)") }
    let lines = slow.taken().filter { $0.contains("WHERE name") }
    #expect(lines == ["slow SELECT id FROM Artist WHERE name = ? [\"SCAN Artist\"]"])
  }

  @Test func slowStatementsOfWritesAreReportedToo() throws {
    let slow = EventLog(slowStatementDuration: .zero)
    try store.addMonitor(slow)
    try store.write { tx in try tx.execute("DELETE FROM Artist WHERE id > 3") }
    #expect(slow.taken().contains { $0.hasPrefix("slow DELETE FROM Artist WHERE id > 3") })
  }

  @Test func aCheckpointIsReported() throws {
    try insert(1)
    _ = log.taken()
    try store.checkpoint()
    #expect(log.taken() == ["checkpoint true"])
  }

  @Test func aCommitOfAnotherProgramIsReported() throws {
    let token = try store.observe(Artist.self) { _ in }
    _ = log.taken()
    try PlainDatabase(directory.file("a.store")).execute("INSERT INTO Artist VALUES (9, 'x')")
    try store.refresh()
    // Without the journal, nothing is known about the commit.
    #expect(log.taken() == ["foreign 0 exact false", "resync"])
    try store.changeJournal.enable(.full)
    _ = log.taken()
    // The store may also see the commit before `refresh`.
    try PlainDatabase(directory.file("a.store")).execute("INSERT INTO Artist VALUES (10, 'x')")
    try store.refresh()
    #expect(log.taken().contains("foreign 1 exact true"))
    token.cancel()
  }

  @Test func aConsumerReportsHowFarItIs() throws {
    try store.changeJournal.enable(.full)
    let consumer = try store.consumer("mirror")
    try insert(1)
    _ = log.taken()
    let batch = try #require(try consumer.next())
    let end = batch.end.rawValue
    try batch.acknowledge()
    let lines = log.taken().filter { $0.hasPrefix("consumer") }
    #expect(
      lines == [
        "consumer mirror \(batch.start.rawValue) lag \(end - batch.start.rawValue)",
        "consumer mirror \(end) lag 0",
      ])
  }

  @Test func aConsumerWithoutNewChangesReportsNoLag() throws {
    try store.changeJournal.enable(.full)
    let consumer = try store.consumer("mirror")
    let position = try consumer.status().position.rawValue
    _ = log.taken()
    #expect(try consumer.next() == nil)
    #expect(log.taken() == ["consumer mirror \(position) lag 0"])
  }

  @Test func aWorkerReportsItsLagWithItsLeaseAndTheLettersThatItBuries() async throws {
    try await store.changeJournal.enable(.full)
    let consumer = try await store.consumer("mirror")
    try await store.write { tx in try tx.insert(Artist(id: 1, name: "secret")) }
    let desk = WorkerDesk(consumer, holder: "a")
    let other = WorkerDesk(consumer, holder: "b")
    try await desk.prepare()
    let start = try await consumer.status().position.rawValue
    guard case .batch(let batch)? = try await desk.next(limit: 10), let change = batch.changes.first
    else {
      Issue.record("There is no batch.")
      return
    }
    _ = log.taken()
    #expect(try await desk.takeLease(for: .seconds(3600)))
    #expect(try await !other.takeLease(for: .seconds(3600)))
    let lag = batch.end.rawValue - start
    #expect(lag > 0)
    // The worker that has to wait for the lease reports nothing.
    #expect(log.taken() == ["consumer mirror \(start) lag \(lag)"])
    try await desk.bury(change, Refusal(), attemptCount: 3)
    await #expect(throws: CancellationError.self) {
      try await other.bury(change, Refusal(), attemptCount: 3)
    }
    #expect(log.taken() == ["dead letter mirror Artist \(change.position.rawValue) attempts 3"])
    try await batch.acknowledge()
    _ = log.taken()
    #expect(try await desk.takeLease(for: .seconds(3600)))
    #expect(log.taken() == ["consumer mirror \(batch.end.rawValue) lag 0"])
  }

  @Test func aWorkerOfADroppedConsumerReportsNoFailure() async throws {
    try await store.changeJournal.enable(.full)
    let consumer = try await store.consumer("mirror")
    let desk = WorkerDesk(consumer, holder: "a")
    try await desk.prepare()
    try await store.dropConsumer("mirror")
    _ = log.taken()
    #expect(try await desk.takeLease(for: .seconds(3600)))
    #expect(log.taken() == [])
  }

  @Test func aWriteThatChangesTheSchemaReportsAResync() throws {
    try store.write { tx in try tx.execute("CREATE TABLE Extra (id INTEGER PRIMARY KEY)") }
    #expect(log.taken().filter { $0 == "resync" } == ["resync"])
  }

  @Test func aMonitorTagsTheCommitRecordUnlessTheWriteHasATag() throws {
    try store.changeJournal.enable(.full)
    try store.addMonitor(EventLog(tag: "trace:1"))
    try insert(1)
    try store.write { tx in
      tx.sign(author: "ada", tag: "import")
      try tx.insert(Artist(id: 2, name: "b"))
    }
    let history = try store.changeJournal.transactions(after: .start, limit: 10)
    #expect(history.compactMap(\.tag) == ["trace:1", "import"])
    #expect(log.writes.map { $0.transaction != nil } == [true, true])
  }

  @Test func aMonitorEndsWithItsStoreAndCostsNothingAfterwards() throws {
    let other = try Store(at: directory.file("a.store"), models: Artist.self)
    store.close()
    _ = log.taken()
    #expect(!other.engine.monitors.isActive)
    try other.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    #expect(log.taken() == [])
  }

  @Test func anObservationThatFallsBehindIsReported() throws {
    let token = try store.observe(.model(Artist.self), coalescing: .bounded(128)) { _ in }
    token.pause()
    for id in 1...140 { try insert(Int64(id)) }
    // A full mailbox coalesces, and is not reported for each commit.
    #expect(log.taken().filter { $0.hasPrefix("backlog") } == ["backlog 64", "backlog 128"])
    token.cancel()
  }

  @Test func aFailureThatNoCallerReceivesIsReported() throws {
    store.engine.report(StoreError(.journalGap, "A gap."))
    store.lease.scope.report(StoreError(.busy, "Busy."))
    #expect(log.taken() == ["failure journalGap", "failure busy"])
  }
}
