#if Service
  import InMemoryLogging
  import Logging
  import ModelStoreService
  import Testing

  @testable import ModelStore

  @Suite(.tags(.unit)) struct StoreLoggerTests {
    private let world: ServiceWorld
    private let handler = InMemoryLogHandler()

    init() throws {
      world = try ServiceWorld()
    }

    private func log(_ level: Logger.Level, slow: Duration? = nil) throws {
      let logger = Logger(label: "notes") { [handler] _ in
        var handler = handler
        handler.logLevel = level
        return handler
      }
      try world.store.addMonitor(StoreLogger(logger, slowStatementDuration: slow))
    }

    @Test func writesAreLoggedWithTheirOutcome() throws {
      try log(.trace)
      try world.insert(1)
      #expect(throws: StoreError.self) { try world.insert(2, "") }
      let entries = handler.entries
      #expect(entries.map(\.message) == ["write committed", "write refused"])
      #expect(entries.map(\.level) == [.trace, .debug])
      #expect(entries.first?.metadata["rows"] == "1")
      #expect(entries.last?.metadata["rules"] == ["Note.text.length"])
    }

    @Test func atTheUsualLevelOrdinaryWorkLogsNothing() throws {
      try log(.info)
      try world.insert(1)
      _ = try world.store.fetch(Note.all)
      try world.store.checkpoint()
      #expect(handler.entries.isEmpty)
    }

    @Test func aSlowStatementIsAWarningWithItsPlanAndNoValues() throws {
      try log(.info, slow: .zero)
      let text = "secret"
      _ = try world.store.read { tx in try tx.rows("SELECT id FROM Note WHERE text = \(text)") }
      let entry = handler.entries.first {
        $0.metadata["sql"] == "SELECT id FROM Note WHERE text = ?"
      }
      #expect(entry?.level == .warning)
      #expect(entry?.metadata["plan"] == ["SCAN Note"])
      #expect(!handler.entries.contains { "\($0.metadata)".contains("secret") })
    }

    @Test func eachEventHasItsLevel() throws {
      let logger = Logger(label: "notes") { [handler] _ in
        var handler = handler
        handler.logLevel = .trace
        return handler
      }
      let monitor = StoreLogger(logger)
      let events: [StoreEvent] = [
        .checkpoint(CheckpointReport(pageCount: 7, duration: .zero)),
        .foreignCommit(ForeignCommitReport(changeCount: 2, isExact: true, duration: .zero)),
        .resync, .backlog(eventCount: 64),
        .consumer(
          ConsumerReport(name: "mirror", acknowledged: JournalPosition(rawValue: 3), lag: 4)),
        .failure(StoreError(.busy, "Busy.")),
        .writeEnded(
          WriteReport(
            number: 1, outcome: .unknown(StoreError(.outcomeUnknown, "?")), times: .init(),
            changedRowCount: 0, sharingCount: 0, transaction: nil)),
      ]
      for event in events { monitor.receive(event) }
      #expect(
        handler.entries.map { "\($0.level) \($0.message)" } == [
          "debug checkpoint", "debug commit of another program", "notice observers were reset",
          "warning an observation falls behind", "trace consumer", "error failure",
          "critical outcome of a write unknown",
        ])
      let values = zip(
        handler.entries, ["pages", "changes", "", "events", "lag", "code", "code"]
      ).map { entry, key in entry.metadata[key].map { "\($0)" } }
      #expect(values == ["7", "2", nil, "64", "4", "busy", "outcomeUnknown"])
    }

    @Test func aDeadLetterIsAnErrorWithoutValues() async throws {
      let world = try ServiceWorld(journal: true)
      let logger = Logger(label: "notes") { [handler] _ in handler }
      try world.store.addMonitor(StoreLogger(logger))
      try world.insert(77, "secret")
      let desk = WorkerDesk(
        try await world.store.consumer("mirror", startingAt: .start), holder: "a")
      try await desk.prepare()
      #expect(try await desk.takeLease(for: .seconds(3600)))
      guard case .batch(let batch)? = try await desk.next(limit: 10),
        let change = batch.changes.first
      else {
        Issue.record("There is no batch.")
        return
      }
      try await desk.bury(change, StoreError(.misuse, "secret"), attemptCount: 3)
      let entry = try #require(handler.entries.last)
      #expect(entry.message == "dead letter" && entry.level == .error)
      #expect(
        entry.metadata == [
          "consumer": "mirror", "model": "Note", "position": "\(change.position.rawValue)",
          "attempts": "3",
        ])
    }

    @Test func theErrorOfABodyIsLoggedByItsTypeOnly() throws {
      struct Secret: Error { let text = "secret" }
      try log(.debug)
      #expect(throws: Secret.self) { try world.store.write { _ in throw Secret() } }
      #expect(handler.entries.map(\.message) == ["write rolled back"])
      #expect(handler.entries.first?.metadata["error"] == "Secret")
    }
  }
#endif
