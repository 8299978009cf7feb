import Dispatch
import Testing

@testable import ModelStore

/// Consumers that are put behind what does not concern them.
@Suite(.tags(.law)) struct ConsumerPassingTests {
  /// The writer may wait only for readers, and for work on the system's queues.
  @Test(.timeLimit(.minutes(30))) func consumersThatWaitToBeAdvancedBlockNoOtherWork() async throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.file("journal.store")
    try PlainDatabase(path).execute(ConsumerTests.tables)
    var configuration = StoreConfiguration()
    configuration.maxReaderCount = 1
    let store = try await Store(at: path, configuration: configuration)
    try await store.adopt()
    try await store.changeJournal.enable(for: ["Item"])
    let consumers = try (1...32).map { try store.consumer("\($0)") }
    for _ in 0..<1000 {
      try await store.write { tx in try tx.execute("UPDATE Sum SET id = 1") }
    }
    let gate = DispatchGate()
    let engine = store.engine
    async let writing: Void = engine.connections.writer.async { _ in gate.wait() }
    async let lags = withThrowingTaskGroup(of: Int64.self) { group in
      for consumer in consumers {
        group.addTask {
          #expect(try await consumer.nextOnQueue(limit: 10) == nil)
          return try consumer.lag
        }
      }
      return try await group.reduce(into: [Int64]()) { $0.append($1) }
    }
    for _ in 0..<500 {
      try await engine.connections.readers.async { _ in }
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume() }
      }
    }
    gate.open()
    try await writing
    #expect(try await lags == Array(repeating: 0, count: 32))
  }
}
