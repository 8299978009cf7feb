import Testing

@testable import ModelStore

/// One rule for every sequence: it finishes when its store closes or is dropped.
@Suite(.tags(.law), .timeLimit(.minutes(30))) struct SequenceEndTests {
  /// A loop over one of the public sequences, which holds everything but the store.
  struct Loop: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The type of the sequence, as the sources declare it.
    let type: String
    /// Begins the sequence; what it returns loops over it to its end.
    let begin: @Sendable (Store) throws -> @Sendable () async throws -> Void

    init<Sequence: AsyncSequence & Sendable>(
      _ name: String, _ type: String, _ make: @escaping @Sendable (Store) throws -> Sequence
    ) {
      testDescription = name
      self.type = type
      begin = { store in
        let sequence = try make(store)
        return { for try await _ in sequence {} }
      }
    }
  }

  enum Ending: CaseIterable { case close, drop }

  static let loops: [Loop] = [
    Loop("a field", "ChangeSequence") { try $0.changes(of: \Album.title, of: 1) },
    Loop("several fields", "ChangeSequence") {
      try $0.changes(of: .fields([\Album.title, \Album.artistID], of: 1))
    },
    Loop("a record", "ChangeSequence") { try $0.changes(of: Album.self, key: 1) },
    Loop("a model", "ChangeSequence") { try $0.changes(of: Album.self) },
    Loop("a live query", "ChangeSequence") { try $0.liveQuery(Album.all).changes() },
    Loop("a window", "ChangeSequence") { try $0.liveQuery(Album.all.limit(1)).changes() },
    Loop("a live list", "ChangeSequence") { try $0.liveList(\Mix.songs, of: 1).changes() },
    Loop("a list", "ChangeSequence") { try $0.changes(ofList: \Mix.songs, of: 1) },
    Loop("a group", "ChangeSequence") {
      try $0.changes(of: $0.liveQuery(Album.all), $0.liveQuery(Artist.all))
    },
    Loop("a subject", "FieldSubject") { try $0.subject(\Album.title, of: 1) },
    Loop("a gate", "AsyncStream") { store in
      let gate = try Gate(store.check("title", \Album.title, of: 1) { !$0.isEmpty })
      let verdicts = gate.verdicts
      // The loop holds the gate: it would end with that otherwise.
      return verdicts.map { _ in withExtendedLifetime(gate) {} }
    },
    Loop("a consumer", "ConsumerBatches") {
      try $0.consumer("c", startingAt: .start).batches()
    },
    Loop("the journal's growth", "JournalGrowth") {
      $0.changeJournal.growth(after: try $0.changeJournal.position())
    },
  ]

  private static func store(_ directory: TemporaryDirectory) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.changeJournal = .full
    let store = try Store(
      at: directory.file("ends.store"), models: Artist.self, Album.self, Song.self, Mix.self,
      configuration: configuration)
    try store.write { tx in _ = try tx.upsert(Mix(id: 1)) }
    return store
  }

  @Test("a loop finishes when its store closes or is dropped", arguments: loops, Ending.allCases)
  func finishes(_ loop: Loop, _ ending: Ending) async throws {
    let directory = try TemporaryDirectory()
    var store: Store? = try Self.store(directory)
    let other = try Self.store(directory)
    let run = try #require(try store.map { try loop.begin($0) })
    let task = Task { try await run() }
    await Task.yield()
    switch ending {
    case .close: await store?.close()
    case .drop: store = nil
    }
    try await task.value
    // The other store on the file is not concerned.
    #expect(try await other.fetch(Mix.all).count == 1)
    withExtendedLifetime(store) {}
  }

  @Test("a loop over a sequence of a closed store finishes at once", arguments: loops)
  func finishesAtOnce(_ loop: Loop) async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let run = try loop.begin(store)
    await store.close()
    await #expect(throws: Never.self) { try await run() }
  }

  @Test("a loop reads the waiting events before it finishes")
  func readsWhatWaits() async throws {
    let directory = try TemporaryDirectory()
    let store = try Self.store(directory)
    let titles = try await store.changes(of: .field(\Album.title, of: 1), coalescing: .every)
    let albums = try await store.liveQuery(Album.all).changes(coalescing: .every)
    for title in ["a", "b", "c"] {
      try await store.write { tx in _ = try tx.upsert(Album(id: 1, title: title)) }
    }
    await store.close()
    var seen: [String?] = []
    for try await change in titles { seen.append(change.new) }
    #expect(seen == ["a", "b", "c"])
    var counts: [Int] = []
    for try await changes in albums { counts.append(changes.new.count) }
    #expect(counts == [1, 1, 1])
  }

  @Test("a consumer continues to read after its store is released, until the store is closed")
  func aConsumerOutlivesItsStore() throws {
    let directory = try TemporaryDirectory()
    let consumer = try Self.store(directory).consumer("c", startingAt: .start)
    #expect(try consumer.next() != nil)
    let store = try Self.store(directory)
    let other = try store.consumer("d")
    store.close()
    #expect(failure { try other.next() }?.code == .misuse)
    #expect(try consumer.next() != nil)
  }

  /// A new sequence must be added to the list above.
  @Test func everyPublicSequenceIsTested() throws {
    var declared: Set<String> = []
    for file in try Project.checkout.get().library {
      for line in file.lines where !line.contains("//") {
        let name = line.firstMatch(of: /(?:struct|extension|class) (\w+)/)?.1
        if line.contains("AsyncSequence"), let name { declared.insert(String(name)) }
        if line.contains("AsyncStream<"), line.contains("public") { declared.insert("AsyncStream") }
      }
    }
    #expect(declared == Set(Self.loops.map(\.type)))
  }
}
