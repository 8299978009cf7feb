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
}
