import ModelStore
import Testing

@Suite(.tags(.unit)) struct TroubleshootingExample {
  @Test func aProgramDecidesByTheCode() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("library.store"), models: Author.self, Book.self)
    let messages = Recorder<String>()
    func show(_ line: String) { messages.add(line) }
    // snippet: troubleshooting
    func save(_ book: Book) throws {
      for attempt in 1...3 {
        do {
          try store.write { tx in try tx.upsert(book) }
          return
        } catch let error as StoreError {
          switch error.code {
          case .busy where attempt < 3:
            continue  // Nothing was changed, so the same write is safe to repeat.
          case .rejected:
            for violation in error.violations {
              show("\(violation.fields.joined(separator: ", ")) \(violation.message)")
            }
            return
          default:
            throw error
          }
        }
      }
    }
    try save(Book(id: 1, title: "Gifts", pages: 0))
    // end
    #expect(messages.events == ["pages must be 1 or greater"])
    #expect(try store.fetch(Book.all).isEmpty)
  }
}
