import ModelStore
import Testing

@Suite(.tags(.unit)) struct ValidatorsExample {
  @Test func oneErrorListsEveryRejection() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: validators
    let noTwins = Validator("Book.noTwins", Book.self) { change, reads in
      guard let book = change.new else { return .accept }
      let same = Book.where { $0.title == book.title && $0.pages == book.pages }
      return try reads.count(same) == 1 ? .accept : .reject("is here already", \.title)
    }
    let ratingsStay = Validator("Book.ratingsStay", Book.self) { change, _ in
      guard let old = change.old, let new = change.new else { return .accept }
      return old.rating != nil && new.rating == nil
        ? .reject("must not be taken back", \.rating) : .accept
    }
    let store = try Store(
      at: path, models: Author.self, Book.self, validators: [noTwins, ratingsStay])
    try store.write { tx in
      try tx.insert(Book(id: 1, title: "Gifts", pages: 274, rating: 4))
    }

    var refusals: [String] = []
    do {
      // A rule in the file: the statement fails at once.
      try store.write { tx in try tx.set(\Book.title, to: "  ", for: 1) }
    } catch let error as StoreError where error.code == .rejected {
      refusals += error.violations.map { "\($0.rule): \($0.message)" }
    }
    do {
      // Validators: all of them judge the whole transaction before COMMIT.
      try store.write { tx in
        try tx.insert(Book(id: 2, title: "Gifts", pages: 274))
        try tx.set(\Book.rating, to: nil, for: 1)
      }
    } catch let error as StoreError where error.code == .rejected {
      refusals += error.violations.map { "\($0.rule): \($0.message)" }
    }
    // Book.title.notBlank: must not be empty
    // Book.noTwins: is here already          (of book 2)
    // Book.noTwins: is here already          (of book 1, which changed too)
    // Book.ratingsStay: must not be taken back
    // end
    #expect(
      refusals == [
        "Book.title.notBlank: must not be empty", "Book.noTwins: is here already",
        "Book.noTwins: is here already", "Book.ratingsStay: must not be taken back",
      ])
    #expect(try store.fetch(Book.all) == [Book(id: 1, title: "Gifts", pages: 274, rating: 4)])
  }
}
