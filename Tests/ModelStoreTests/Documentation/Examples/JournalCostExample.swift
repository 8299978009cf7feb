import ModelStore
import Testing

@Suite(.tags(.unit)) struct JournalCostExample {
  @Test func theJournalIsLimitedAndTurnedOff() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: journal-cost
    var configuration = StoreConfiguration()
    configuration.journalRetention = JournalRetention(
      age: .seconds(30 * 24 * 60 * 60), maxByteCount: 64 * 1024 * 1024)
    let store = try Store(
      at: path, models: Author.self, Book.self, configuration: configuration)
    let journal = store.changeJournal
    try journal.enable(.full, for: ["Book"])
    try journal.enable(.keys, for: ["Author"])
    for id in 1...1000 as ClosedRange<Int64> {
      try store.write { tx in try tx.insert(Book(id: id, title: "A book", pages: 100)) }
    }

    let status = try journal.status()
    let trimming = try journal.trim(JournalRetention(maxEntryCount: 100))
    try journal.disable(for: ["Author"])
    try journal.disable()
    // status.entryCount: 2002, trimming.removedCount: 1902
    // end
    #expect(status.entryCount == 2002)
    #expect(trimming.removedCount == 1902)
    #expect(try journal.details() == [:])
  }
}
