import ModelStore
import Testing

@Suite(.tags(.unit)) struct SafetyAndDurabilityExample {
  @Test func everyOutcomeOfAWriteHasAnAnswer() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: safety-and-durability
    let configuration = StoreConfiguration(busyTimeout: .seconds(2), cacheSize: 4 * 1024 * 1024)
    var store = try Store(at: path, models: Author.self, configuration: configuration)

    var isKept = false
    do {
      try store.write { tx in try tx.insert(Author(id: 1, name: "Ursula K. Le Guin")) }
      isKept = true
    } catch let error as StoreError {
      switch error.code {
      case .busy, .outOfSpace:
        isKept = false  // Nothing was changed. The same write may be tried again.
      case .outcomeUnknown:
        store.close()
        store = try Store(at: path, models: Author.self, configuration: configuration)
        isKept = try store.find(Author.self, 1) != nil
      default:
        throw error
      }
    }

    try store.checkpoint()
    let findings = try store.checkIntegrity()
    // isKept: true, findings: []
    // end
    #expect(isKept)
    #expect(findings == [])
  }
}
