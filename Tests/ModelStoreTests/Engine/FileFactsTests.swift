import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct FileFactsTests {
  /// Explaining the refusal reads what the file contains, in the middle of the transaction.
  @Test func aRolledBackChangeOfTheSchemaIsForgotten() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("music.store"), models: Artist.self)
    #expect(throws: StoreError.self) {
      try store.write { tx in
        try tx.execute("ALTER TABLE Artist RENAME COLUMN name TO title")
        try tx.execute("INSERT INTO Artist (id, title) VALUES (1, ''), (2, '')")
      }
    }
    let changes = try store.writeReturningChanges { tx in try tx.insert(Artist(id: 1, name: "a")) }
      .changes.changes
    #expect(changes.map(\.new) == [[.integer(1), .text("a")]])
  }
}
