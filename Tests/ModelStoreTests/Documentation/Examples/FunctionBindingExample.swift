import ModelStore
import Testing

@Suite(.tags(.unit)) struct FunctionBindingExample {
  @Test func aFunctionInSwiftComputesAField() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: function-binding
    let slug = SQLFunction("slug") { values in
      guard case .text(let title) = values[0] else { return .null }
      return .text(title.lowercased().split(separator: " ").joined(separator: "-"))
    }
    var configuration = StoreConfiguration()
    configuration.functions = [slug]
    let store = try Store(
      at: path, models: Author.self, Book.self,
      bindings: [.derive(\Book.shelfMark, from: "slug(title)").calling(slug)],
      configuration: configuration)

    try store.write { tx in
      try tx.insert(Book(id: 1, title: "The Left Hand of Darkness", pages: 304))
    }
    let mark = try store.find(Book.self, 1)?.shelfMark
    // mark is "the-left-hand-of-darkness"
    // end
    #expect(mark == "the-left-hand-of-darkness")
  }
}
