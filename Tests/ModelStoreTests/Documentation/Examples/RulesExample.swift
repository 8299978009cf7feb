import ModelStore
import Testing

@Suite(.tags(.unit)) struct RulesExample {
  @Test func rulesOfOneRecordAndOfSeveral() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    // snippet: declaring-rules
    let store = try Store(
      at: path, models: Author.self, Book.self,
      rules: [
        .immutable(\Book.pages),
        .condition(
          "Book.ratedWhenShelved", of: Book.self, "shelfMark IS NULL OR rating IS NOT NULL",
          "must be rated before it is shelved", fields: [\.rating, \.shelfMark]),
        .unique("Book.shelfMark.unique", \Book.shelfMark),
        .atMost(2, of: Book.self, per: \Book.authorID, name: "Book.twoOfEach"),
        .sum(\Book.pages, atMost: 1000, per: \Book.authorID, name: "Book.shelfLength"),
      ])
    try store.write { tx in
      try tx.insert(Author(id: 1, name: "Ursula K. Le Guin"))
      try tx.insert(Book(id: 1, title: "Gifts", pages: 274, authorID: 1))
      try tx.insert(Book(id: 2, title: "Voices", pages: 341, authorID: 1))
    }

    var refusals: [String] = []
    do {
      try store.write { tx in
        try tx.insert(Book(id: 3, title: " ", pages: 500, authorID: 1))
      }
    } catch let error as StoreError where error.code == .rejected {
      refusals = error.violations.map { "\($0.rule): \($0.message)" }
    }
    // Book.title.notBlank: must not be empty
    // Book.shelfLength: must add up to at most 1000 for each authorID
    // Book.twoOfEach: must not be the same in more than 2 records
    // end
    #expect(
      refusals == [
        "Book.title.notBlank: must not be empty",
        "Book.shelfLength: must add up to at most 1000 for each authorID",
        "Book.twoOfEach: must not be the same in more than 2 records",
      ])
  }

  @Test func aRuleForExistingRecords() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("library.store")
    do {
      let store = try Store(at: path, models: Author.self, Book.self)
      try store.write { tx in
        try tx.insert(Book(id: 1, title: "Gifts", pages: 274, rating: 4))
        try tx.insert(Book(id: 2, title: "Voices", pages: 341))
      }
      store.close()
    }
    // snippet: adding-rules
    let store = try Store(at: path, models: Author.self, Book.self)
    let rated = Rule.required(\Book.rating)

    // First find the records that break it.
    let finding = try store.finding(of: rated)
    let count = finding?.count ?? 0
    let keys = finding?.keys ?? []

    // While records break the rule, adding it throws and lists them.
    var refusal: StoreError?
    do {
      try store.add(rated)
    } catch let error as StoreError where error.code == .rejected {
      refusal = error
    }

    // Keep these records. Every write from now on must obey the rule.
    try store.add(rated, existingViolations: .keep)
    try store.write { tx in try tx.set(\Book.title, to: "Voices (2006)", for: 2) }

    // Correct the old records, or drop the rule again.
    try store.write { tx in try tx.set(\Book.rating, to: 5, for: 2) }
    let isClean = try store.findings(in: Book.schema).isEmpty
    try store.dropRule("Book.rating.required")
    // end
    #expect(count == 1)
    #expect(keys == [[.integer(2)]])
    #expect(refusal?.violationCount == 1)
    #expect(isClean)
    #expect(try store.rules() == [])
  }
}
