import ModelStore
import Testing

/// The code of the article about shared stores.
@Suite(.tags(.unit)) struct SharedStoresExample {
  @Test func aMemberBeginsAgainIfTheProgramAsks() throws {
    var configuration = StoreConfiguration()
    configuration.ledger = MemoryLedger().shared(as: "music")
    // snippet: shared-rebuild
    configuration.ledger?.rebuildsMembers = true
    // end
    #expect(configuration.ledger?.rebuildsMembers == true)
  }

  @Test func aClientSeesItsOwnWriteOnEveryMember() async throws {
    let directory = try TemporaryDirectory()
    var configuration = StoreConfiguration(changeJournal: .full)
    configuration.ledger = MemoryLedger().shared(as: "music")
    let a = try await Store(
      at: directory.file("a.store"), models: Author.self, configuration: configuration)
    let b = try await Store(
      at: directory.file("b.store"), models: Author.self, configuration: configuration)
    let position = try await add(Author(id: 1, name: "Ada"), to: a)
    #expect(position == "music:1")
    #expect(try await authors(since: position, in: b).map(\.name) == ["Ada"])
    await a.close()
    await b.close()
  }

  // snippet: shared-position
  /// Answers a request that writes. The client keeps the position, for example in a cookie.
  func add(_ author: Author, to store: Store) async throws -> String? {
    try await store.write { tx in try tx.insert(author) }
    return try await store.sharedPosition()?.description
  }

  /// Answers a later request of that client, which may have reached another member.
  func authors(since position: String?, in store: Store) async throws -> [Author] {
    if let position = position.flatMap(SharedPosition.init) {
      try await store.refresh(atLeast: position)
    }
    return try await store.fetch(Author.all)
  }
  // end

  @Test func aProbeSaysHowFarAMemberIs() throws {
    let directory = try TemporaryDirectory()
    var configuration = StoreConfiguration(changeJournal: .full)
    configuration.ledger = MemoryLedger().shared(as: "music")
    let store = try Store(
      at: directory.file("a.store"), models: Author.self, configuration: configuration)
    defer { store.close() }
    var lines: [String] = []
    // snippet: shared-health
    if let member = try store.memberHealth() {
      let lag = member.lag.map { "\($0) commits behind" } ?? "the ledger does not answer"
      lines.append("\(member.store): \(lag), \(member.obstacle ?? "can write")")
    }
    // end
    #expect(lines == ["music: 0 commits behind, can write"])
  }
}
