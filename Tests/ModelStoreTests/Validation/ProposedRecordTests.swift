import Testing

@testable import ModelStore

/// Everything that is wrong with one record, before and after it is refused.
@Suite(.tags(.unit)) struct ProposedRecordTests {
  private static let oneLate = Rule.unique(
    "Booking.oneLate", \Booking.room, where: "note = 'late'")

  @Test func aConditionalUniqueRuleConsidersOnlyItsRecords() throws {
    let hotel = try Hotel(rules: [Self.oneLate])
    func rules(_ booking: Booking) throws -> [String] {
      try hotel.store.violations(of: booking).map(\.rule)
    }
    #expect(try rules(Booking(id: 9, room: 1, note: "late")) == ["Booking.oneLate"])
    #expect(try rules(Booking(id: 9, room: 1, note: "early")) == [])
    #expect(try rules(Booking(id: 9, room: 2, note: "late")) == [])
    #expect(try rules(Booking(id: 9, room: nil, note: "late")) == [])
    // The late record itself, and a record that becomes late.
    #expect(try rules(Booking(id: 2, room: 1, note: "late")) == [])
    #expect(try rules(Booking(id: 1, room: 1, note: "late")) == ["Booking.oneLate"])
    let violations = try hotel.violations { tx in
      try tx.insert(Booking(id: 9, room: 1, price: -1, note: "late"))
    }
    #expect(violations.map(\.rule) == ["Booking.price.range", "Booking.oneLate"])
  }

  @Test func aFieldThatMustNotChangeIsReportedWithTheOtherViolations() throws {
    let hotel = try Hotel(rules: [.immutable(\Booking.start)])
    let changed = Booking(id: 1, guest: " ", start: 1, end: 5)
    let expected = ["Booking.guest.notBlank", "Booking.start.immutable"]
    #expect(try hotel.violations { tx in try tx.update(changed) }.map(\.rule) == expected)
    #expect(try hotel.violations { tx in _ = try tx.upsert(changed) }.map(\.rule) == expected)
    #expect(try hotel.store.violations(of: changed).map(\.rule) == expected)
    // Fields that are not given stay as they are.
    let some = try hotel.violations { tx in
      _ = try tx.upsert(
        ["id": .integer(1), "guest": .text(" "), "end": .integer(5), "price": .real(1)],
        into: Booking.schema)
    }
    #expect(some.map(\.rule).contains("Booking.start.immutable") == false)
  }

  /// A file with tables that refer to each other, adopted.
  private static func family() throws -> (directory: TemporaryDirectory, store: Store) {
    let directory = try TemporaryDirectory()
    let path = directory.file("family.store")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE artist (id INTEGER PRIMARY KEY);
      CREATE TABLE album (
        id INTEGER PRIMARY KEY, title TEXT NOT NULL CHECK (title <> ''),
        artist INTEGER REFERENCES artist);
      CREATE TABLE track (id INTEGER PRIMARY KEY, album INTEGER REFERENCES album);
      CREATE TABLE employee (id INTEGER PRIMARY KEY, name TEXT CHECK (name <> ''), boss INTEGER);
      CREATE TABLE part (
        id INTEGER PRIMARY KEY, code INTEGER UNIQUE, name TEXT CHECK (name <> ''),
        whole INTEGER REFERENCES part (code));
      """)
    let store = try Store(at: path)
    try store.adopt()
    return (directory, store)
  }

  private static func violations(
    _ store: Store, _ values: [String: SQLValue], into model: String
  ) throws -> [[String]] {
    let schema = try #require(store.schema.models.first { $0.name == model })
    let error = failure { try store.write { tx in _ = try tx.insert(values, into: schema) } }
    #expect(error?.violationCount == error?.violations.count)
    return error?.violations.map { [$0.rule] + $0.fields } ?? []
  }

  @Test func oneBrokenReferenceIsReportedOnceInAModelThatIsAlsoReferredTo() throws {
    let (directory, store) = try Self.family()
    defer { withExtendedLifetime(directory) {} }
    let orphan: [String: SQLValue] = [
      "id": .integer(9), "title": .text("x"), "artist": .integer(77),
    ]
    #expect(
      try Self.violations(store, orphan, into: "album") == [["album.artist.reference", "artist"]])
    let worse = orphan.merging(["title": .text("")]) { $1 }
    #expect(try Self.violations(store, worse, into: "album").count == 2)
  }

  @Test func aRecordMayReferToItselfByARule() throws {
    let (directory, store) = try Self.family()
    defer { withExtendedLifetime(directory) {} }
    try store.add(
      Rule("employee.boss", of: "employee", fields: ["boss"], .reference(model: "employee")))
    func rules(_ boss: Int64, _ name: String) throws -> [String] {
      try Self.violations(
        store, ["id": .integer(2), "boss": .integer(boss), "name": .text(name)], into: "employee"
      ).map { $0[0] }
    }
    #expect(try rules(2, "").count == 1)
    #expect(try rules(3, "").last == "employee.boss")
    #expect(try rules(3, "Bo") == ["employee.boss"])
    let employee = try #require(store.schema.models.first { $0.name == "employee" })
    try store.write { tx in
      _ = try tx.insert(
        ["id": .integer(2), "boss": .integer(2), "name": .text("Bo")], into: employee)
    }
  }

  @Test func aReferenceToAnotherColumnIsNotAReferenceToTheRecordItself() throws {
    let (directory, store) = try Self.family()
    defer { withExtendedLifetime(directory) {} }
    let found = try Self.violations(
      store,
      ["id": .integer(5), "code": .integer(1), "name": .text(""), "whole": .integer(5)],
      into: "part")
    #expect(found.map { $0[0] }.last == "part.whole.reference")
    #expect(found.count == 2)
  }

  @Test func theBrokenOneOfTwoUniqueRulesOverTheSameFieldsIsNamed() throws {
    let early = Rule.unique("Booking.oneEarly", \Booking.room, where: "note = 'early'")
    let hotel = try Hotel(rules: [early, Self.oneLate])
    let violations = try hotel.violations { tx in
      try tx.insert(Booking(id: 9, room: 1, start: 20, end: 21, note: "late"))
    }
    #expect(violations == [Self.oneLate.violation].map { $0.with(key: [.integer(9)]) })
    // For a statement SQLite reports only the columns.
    let either = try hotel.violations { tx in
      try tx.execute("UPDATE Booking SET note = 'late' WHERE id = 1")
    }
    #expect(either.map(\.rule) == ["Booking.oneEarly, Booking.oneLate"])
    #expect(
      either.map(\.message) == [
        "must be unique where note = 'early' or must be unique where note = 'late'"
      ])
  }

  @Test func theViolationsListedForOneRecordAreLimited() throws {
    let directory = try TemporaryDirectory()
    var configuration = StoreConfiguration()
    configuration.refusals.maxViolationCount = 1
    let store = try Store(
      at: directory.file("hotel.store"), models: Room.self, Booking.self,
      configuration: configuration)
    let error = failure {
      try store.write { tx in try tx.insert(Booking(id: 1, room: nil, guest: "", price: -1)) }
    }
    #expect(error?.violations.map(\.rule) == ["Booking.guest.notBlank"])
    #expect(error?.violationCount == 2)
  }
}

extension Violation {
  fileprivate func with(key: [SQLValue]) -> Violation {
    var violation = self
    violation.key = key
    return violation
  }
}
