import Testing

@testable import ModelStore

/// Leases of workers, at times that the test sets, and the letters of a worker that lost its lease.
@Suite(.tags(.unit), .timeLimit(.minutes(30))) struct WorkerLeaseTests {
  private let directory: TemporaryDirectory
  private let store: Store

  init() throws {
    directory = try TemporaryDirectory()
    store = try Store(
      at: directory.file("a.store"), models: Artist.self,
      configuration: StoreConfiguration(changeJournal: .full))
  }

  private func lease<Result>(
    of holder: String, _ body: (WorkerLease) throws -> Result
  ) throws -> Result {
    try store.engine.maintenance.transaction { connection in
      try body(WorkerLease(connection: connection, consumer: "mirror", holder: holder))
    }
  }

  /// Whether `holder` has the lease after it asked for it.
  private func takes(_ holder: String, at now: Int64, for duration: Int64 = 30) throws -> Bool {
    try lease(of: holder) { lease in try lease.take(until: now + duration, now: now) }
  }

  @Test func aLeaseIsTakenAfterItsEndOnly() throws {
    #expect(try takes("a", at: 100))
    #expect(try !takes("b", at: 110))
    #expect(try takes("a", at: 120))
    // Renewed until 150.
    #expect(try !takes("b", at: 150))
    #expect(try takes("b", at: 151))
    #expect(try !takes("a", at: 152))
    #expect(try lease(of: "b") { try $0.isHeld } && !lease(of: "a") { try $0.isHeld })
  }

  @Test func aLeaseIsEndedByItsHolderOnly() throws {
    #expect(try takes("a", at: 100))
    try lease(of: "b") { try $0.end() }
    #expect(try !takes("b", at: 110))
    try lease(of: "a") { try $0.end() }
    #expect(try takes("b", at: 110))
  }

  /// Post-mortem: a worker with a shorter duration took the lease of a living one, because its own
  /// lease would have ended earlier.
  @Test func aShorterDurationTakesNoLivingLease() throws {
    #expect(try takes("a", at: 100, for: 60))
    #expect(try !takes("b", at: 110, for: 10))
    #expect(try takes("a", at: 120, for: 60))
  }

  @Test func aLeaseOutlivesASmallStepOfTheClockAndNoLargeOne() throws {
    #expect(try takes("a", at: 1000))
    #expect(try !takes("b", at: 999))
    #expect(try !takes("b", at: 970))
    #expect(try takes("b", at: 969))
  }

  private struct Refusal: Error {}

  @Test func aWorkerWithoutItsLeaseChangesNoLetters() async throws {
    let consumer = try await store.consumer("mirror", startingAt: .start)
    try await store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    let desk = WorkerDesk(consumer, holder: "a")
    try await desk.prepare()
    #expect(try await desk.takeLease(for: .seconds(3600)))
    guard case .batch(let batch)? = try await desk.next(limit: 10), let change = batch.changes.first
    else {
      Issue.record("There is no batch.")
      return
    }
    try await desk.bury(change, Refusal(), attemptCount: 3)
    let letters = try await store.deadLetters()
    #expect(letters.map(\.attemptCount) == [3])
    try await desk.endLease()
    await #expect(throws: CancellationError.self) {
      try await desk.bury(change, Refusal(), attemptCount: 3)
    }
    await #expect(throws: CancellationError.self) { try await desk.remove(letters[0]) }
    #expect(try await store.deadLetters() == letters)
  }
}
