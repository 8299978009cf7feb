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
