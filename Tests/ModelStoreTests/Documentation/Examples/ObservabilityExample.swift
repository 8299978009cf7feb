import ModelStore
import Synchronization
import Testing

@Suite(.tags(.unit)) struct ObservabilityExample {
  @Test func aMonitorCountsRefusals() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("library.store"), models: Artist.self)
    // snippet: observability-monitor
    final class RefusalCounter: StoreMonitor {
      let refusals = Mutex(0)

      func receive(_ event: StoreEvent) {
        guard case .writeEnded(let report) = event, case .refused = report.outcome else { return }
        refusals.withLock { $0 += 1 }
      }
    }

    let counter = RefusalCounter()
    try store.addMonitor(counter)
    // end
    #expect(throws: StoreError.self) {
      try store.write { tx in try tx.insert(Artist(id: 1, name: "")) }
    }
    #expect(counter.refusals.withLock { $0 } == 1)
  }

  @Test func healthAnswersAProbe() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("library.store"), models: Artist.self)
    // snippet: observability-health
    let health = try store.health()
    let isReady = health.isWritable && health.drift.isEmpty
    // end
    #expect(isReady)
  }

  @Test func deadLettersAreReplayed() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("library.store"), models: Artist.self)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    // snippet: workers-replay
    for letter in try store.deadLetters(of: "search-index") {
      print(letter.change.model, letter.change.key, letter.error)
    }
    try store.replayDeadLetters(of: "search-index")
    // end
    #expect(try store.deadLetters() == [])
  }
}
