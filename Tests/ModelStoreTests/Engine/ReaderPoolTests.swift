import Dispatch
import Testing

@testable import ModelStore

/// Threads and tasks that compete for the connections of a store's readers.
@Suite(.tags(.unit)) struct ReaderPoolTests {
  private static func store(in directory: TemporaryDirectory, readers: Int) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.maxReaderCount = readers
    let store = try Store(
      at: directory.file("a.store"), models: Artist.self, configuration: configuration)
    try store.write { tx in
      for id in Int64(1)...50 { try tx.insert(Artist(id: id, name: "artist \(id)")) }
    }
    return store
  }

  /// Runs `body` on `count` threads and waits for all.
  private static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
    let group = DispatchGroup()
    for number in 0..<count {
      // A queue of its own, so that threads that wait take no thread from others.
      DispatchQueue(label: "thread \(number)").async(group: group) {
        do {
          try body(number)
        } catch {
          Issue.record(error)
        }
      }
    }
    group.wait()
  }

  @Test func moreThreadsThanReadersAllReadBesideAWriter() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(in: directory, readers: 2)
    let found = Recorder<Int>()
    Self.onThreads(9) { number in
      var count = 0
      for round in 0..<100 {
        let id = Int64((number * 7 + round) % 50 + 1)
        if number == 0 {
          try store.write { tx in try tx.set(\Artist.name, to: "round \(round)", for: id) }
        } else {
          count += try store.find(Artist.self, id)?.id == id ? 1 : 0
        }
      }
      found.add(count)
    }
    #expect(found.events.sorted() == [0] + Array(repeating: 100, count: 8))
  }

  @Test func closingEndsTheWaitForAReader() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(in: directory, readers: 1)
    let isReading = DispatchGate()
    let mayEnd = DispatchGate()
    let codes = Recorder<StoreError.Code?>()
    let ended = DispatchGroup()
    DispatchQueue(label: "holder").async(group: ended) {
      do {
        try store.read { _ in
          isReading.open()
          mayEnd.wait()
        }
      } catch {
        Issue.record(error)
      }
    }
    isReading.wait()
    let waits = DispatchGroup()
    for number in 0..<3 {
      DispatchQueue(label: "waiting \(number)").async(group: waits) {
        codes.add(failure { try store.read { _ in } }?.code)
      }
    }
    DispatchQueue(label: "closing").async(group: ended) { store.close() }
    // The only reader is still in use.
    waits.wait()
    #expect(codes.events == [.misuse, .misuse, .misuse])
    mayEnd.open()
    ended.wait()
  }

  @Test func tasksThatReadWithoutABreakDoNotKeepAThreadWaiting() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(in: directory, readers: 1)
    let isOver = Recorder<Bool>()
    let name = try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 0..<4 {
        group.addTask {
          while isOver.events.isEmpty { _ = try await store.find(Artist.self, 1) }
          return nil
        }
      }
      group.addTask {
        let name = await withCheckedContinuation { continuation in
          DispatchQueue(label: "thread").async {
            let read: () throws -> Artist? = { try store.find(Artist.self, 2) }
            continuation.resume(returning: Result { try read()?.name })
          }
        }
        isOver.add(true)
        return try name.get()
      }
      return try await group.reduce(nil) { $0 ?? $1 }
    }
    #expect(name == "artist 2")
  }

  @Test func aReadInsideAReadTakesAnotherReader() throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(in: directory, readers: 2)
    let (count, code) = try store.read { _ in
      try store.read { inner in
        (try inner.count(Artist.all), failure { try store.read { _ in } }?.code)
      }
    }
    #expect(count == 50)
    #expect(code == .misuse)
  }
}
