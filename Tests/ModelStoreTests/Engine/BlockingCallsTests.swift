import Dispatch
import Testing

@testable import ModelStore

/// Asynchronous forms that only read wait for no call that writes or reads for long.
@Suite(.tags(.unit)) struct BlockingCallsTests {
  /// Calls that wait at a gate, as calls that wait for the writer would.
  private struct Occupants {
    private let gate = DispatchGroup()
    private let begun = AsyncStream.makeStream(of: Void.self)

    init() { gate.enter() }

    func open() { gate.leave() }

    /// Occupies `count` threads of `calls`, and lets as many further calls wait for them.
    func occupy(
      _ calls: BlockingCalls, count: Int, in group: inout ThrowingTaskGroup<Void, any Error>
    ) async {
      for _ in 0..<2 * count {
        group.addTask { [gate, begun] in
          try await calls.run {
            begun.continuation.yield()
            gate.wait()
          }
        }
      }
      var running = begun.stream.makeAsyncIterator()
      for _ in 0..<count { await running.next() }
    }
  }

  private static func store(_ directory: TemporaryDirectory) throws -> Store {
    let store = try Store(
      at: directory.file("a.store"), models: Artist.self,
      configuration: StoreConfiguration(changeJournal: .full))
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    return store
  }

  @Test(.timeLimit(.minutes(30))) func readsReturnWhileOtherCallsWait() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let position = try await store.changeJournal.position()
    let consumer = try await store.consumer("c")
    let occupants = Occupants()
    try await withThrowingTaskGroup(of: Void.self) { group async throws in
      await occupants.occupy(store.engine.calls, count: 4, in: &group)
      defer { occupants.open() }
      #expect(try await store.changeJournal.position() == position)
      #expect(try await store.changeJournal.transactions().flatMap(\.changes).count == 1)
      #expect(try await store.changeJournal.newestTransactions(limit: 1).count == 1)
      #expect(try await store.changeJournal.refusals() == [:])
      #expect(try await store.changeJournal.status().consumers.count == 1)
      #expect(try await store.consumers().map(\.name) == ["c"])
      #expect(try await consumer.status().lag == 0)
      #expect(try await store.fetch(Artist.all, at: position).map(\.id) == [1])
      #expect(try await store.find(Artist.self, 1, at: position)?.name == "a")
      #expect(try await store.difference(of: Artist.all, from: position).deletions.isEmpty)
      #expect(try await store.rules() == [])
      #expect(try await store.bindings() == [])
      #expect(try await store.schemaDrift() == [])
    }
  }

  @Test(.timeLimit(.minutes(30))) func eachReaderHasAThread() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let count = store.engine.configuration.maxReaderCount
    let occupants = Occupants()
    try await withThrowingTaskGroup(of: Void.self) { group async throws in
      // It returns only if this many calls run at the same time.
      await occupants.occupy(store.engine.readCalls, count: count, in: &group)
      occupants.open()
      try await group.waitForAll()
    }
  }

  /// The short forms of observing read nothing, so they need no asynchronous form.
  @Test func observingWithoutOptionsWaitsForNoWriter() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let seen = Recorder<String>()
    let tokens = Recorder<ObservationToken>()
    try store.write { tx in
      // Another thread observes while this one holds the writer.
      let done = DispatchGate()
      DispatchQueue(label: "observer").async {
        do {
          tokens.add(try store.observe(\Artist.name, of: 1) { seen.add("field \($0.new ?? "")") })
          tokens.add(
            try store.observe(Artist.self, of: 1) { seen.add("record \($0.new?.name ?? "")") })
          tokens.add(try store.observe(Artist.self) { _ in seen.add("model") })
        } catch {
          seen.add("\(error)")
        }
        done.open()
      }
      done.wait()
      try tx.set(\Artist.name, to: "b", for: 1)
    }
    store.waitForDelivery()
    #expect(seen.events == ["field b", "record b", "model"])
    for token in tokens.events { token.cancel() }
  }
}
