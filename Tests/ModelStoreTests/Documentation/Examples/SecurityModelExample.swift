import Foundation
import ModelStore
import Testing

@Suite(.tags(.unit)) struct SecurityModelExample {
  @Test func textOfUsersNeverBecomesSQL() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    let store = try Store(at: path, models: Author.self, Book.self)
    try store.write { tx in
      try tx.insert(Book(id: 1, title: "Gifts", pages: 274))
      try tx.insert(Book(id: 2, title: "x' OR '1'='1", pages: 341))
    }
    let userText = "x' OR '1'='1"
    let userFilter = "pages > 300"
    // snippet: security-values
    let byValue = try store.read { tx in
      try tx.rows("SELECT id FROM Book WHERE title = \(userText)")
    }
    let parser = PredicateParser(schema: Book.schema, now: Date())
    let byFilter = try store.fetch(Book.all.filter(try parser.condition(parsing: userFilter)))
    // Both find book 2 only.
    // end
    #expect(byValue.map { $0["id"] } == [.integer(2)])
    #expect(byFilter.map(\.id) == [2])
    store.close()
    let untrustedPath = path
    // snippet: security-untrusted-file
    var configuration = StoreConfiguration()
    configuration.access = .readOnly
    configuration.maxValueSize = 16 * 1024 * 1024
    let untrusted = try Store(at: untrustedPath, configuration: configuration)
    let findings = try untrusted.checkIntegrity()
    let rows = try untrusted.read { tx in
      try tx.count(StoreQuery<DynamicRecord>(Book.schema), maxStepCount: 1_000_000)
    }
    // findings: [], rows: 2; nil if counting takes too many steps
    // end
    #expect(findings == [])
    #expect(rows == 2)
  }
}
