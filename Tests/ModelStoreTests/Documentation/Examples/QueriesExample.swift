import Foundation
import ModelStore
import Testing

@Suite(.tags(.unit)) struct QueriesExample {
  @Test func typedAndTextConditionsSelectAsSQLDoes() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: queries
    let store = try Store(at: path, models: Author.self, Book.self)
    try store.write { tx in
      try tx.insert(Book(id: 1, title: "The Dispossessed", pages: 341, rating: 5))
      try tx.insert(Book(id: 2, title: "The Tombs of Atuan", pages: 163, rating: 4))
      try tx.insert(Book(id: 3, title: "Malafrena", pages: 369))
    }

    let articles = Book.where { $0.pages > 100 && $0.title.hasPrefix("The ") }
      .order {
        $0.rating.nullsLast
        $0.title.descending
      }
    let titled = try store.fetch(articles).map(\.id)  // [2, 1]

    // Malafrena has no rating: it is neither 5 nor different from 5.
    let others = try store.fetch(Book.where { $0.rating != 5 }).map(\.id)  // [2]
    let unlikeFive = try store.fetch(Book.where { $0.rating.isDistinct(from: 5) })  // 2 and 3
    let unrated = try store.fetch(Book.where { $0.rating == nil })  // 3

    let parser = PredicateParser(schema: Book.schema, now: Date())
    let byText = Book.all
      .filter(matching: try parser.predicate(parsing: "rating >= 5 or rating is null"))
      .order(by: try parser.order(parsing: "-pages,title"))
    let books = try store.fetch(byText).map(\.id)  // [3, 1]

    let length = 10
    let short = Book.where { _ in .sql("length(title) < \(length)") }
    let (count, longest) = try store.read { tx in
      let longest = try tx.aggregate(.maximum, of: \Book.pages, in: Book.all, as: Int.self)
      return (try tx.count(short), longest)
    }
    // count: 1, longest: 369
    // end
    #expect(titled == [2, 1])
    #expect(others == [2])
    #expect(unlikeFive.map(\.id) == [2, 3])
    #expect(unrated.map(\.id) == [3])
    #expect(books == [3, 1])
    #expect(count == 1)
    #expect(longest == 369)
  }

  @Test func aQueryIsBuiltFromOptionalFilters() async throws {
    let directory = try TemporaryDirectory()
    let store = try await Store(at: directory.file("library.store"), models: Author.self, Book.self)
    try await store.write { tx in
      try tx.insert(Book(id: 1, title: "The Dispossessed", pages: 341, rating: 5))
      try tx.insert(Book(id: 2, title: "The Tombs of Atuan", pages: 163, rating: 4))
      _ = try tx.insert(Book(id: 3, title: "Malafrena", pages: 369))
    }
    let words: String? = "The "
    let minimumRating: Int? = nil
    // snippet: queries-building
    var query = Book.all.order { $0.title }
    if let words { query = query.filter { $0.title.contains(words) } }
    if let minimumRating { query = query.filter { $0.rating >= minimumRating } }

    let count = try await store.count(query)
    let (first, longest) = try await store.read { [query] tx in
      let first = try tx.fetchFirst(query)
      let longest = try tx.aggregate(.maximum, of: \Book.pages, in: query, as: Int.self)
      return (first, longest)
    }

    let author: Int64? = nil
    let withoutAuthor = Book.where { $0.authorID == author }  // as `== nil`
    // end
    #expect(count == 2)
    #expect(first?.id == 1)
    #expect(longest == 341)
    #expect(try await store.fetch(withoutAuthor).map(\.id) == [1, 2, 3])
  }
}
