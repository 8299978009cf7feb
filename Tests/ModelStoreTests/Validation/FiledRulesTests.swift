import Testing

@testable import ModelStore

/// What becomes of a file's rules when programs open it that do not declare them, or that have
/// renamed what the rules are about.
@Suite(.tags(.unit)) struct FiledRulesTests {
  /// The same table for programs of different age: what they call a field, and its column.
  private struct Paper: Model {
    var id: Int64
    var rating: Int64?

    static let definition = ModelDefinition<Paper>(
      "Paper", key: \.id, fields: [.init("id", \.id), .init("rating", \.rating)])

    var key: Int64 { id }

    init(id: Int64, rating: Int64?) {
      self.id = id
      self.rating = rating
    }

    init(row: borrowing RowView) throws {
      id = try row.decode(at: 0)
      rating = try row.decode(at: 1)
    }

    func encode(to arguments: inout ArgumentWriter) throws {
      try id.encode(to: &arguments, at: 0)
      try rating.encode(to: &arguments, at: 1)
    }
  }

  private struct StarredPaper: Model {
    var paper: Paper

    static let definition = ModelDefinition<StarredPaper>(
      "Paper", key: \.id, fields: [.init("id", \.id), .init("stars", \.stars)])

    var id: Int64 { paper.id }
    var stars: Int64? { paper.rating }
    var key: Int64 { id }

    init(id: Int64, stars: Int64?) { paper = Paper(id: id, rating: stars) }
    init(row: borrowing RowView) throws { paper = try Paper(row: row) }
    func encode(to arguments: inout ArgumentWriter) throws { try paper.encode(to: &arguments) }
  }

  /// The property has another name, the column has not.
  private struct RenamedPaper: Model {
    var paper: Paper

    static let definition = ModelDefinition<RenamedPaper>(
      "Paper", key: \.id,
      fields: [.init("id", \.id), .init("grade", \.grade, column: "rating")])

    var id: Int64 { paper.id }
    var grade: Int64? { paper.rating }
    var key: Int64 { id }

    init(id: Int64, grade: Int64?) { paper = Paper(id: id, rating: grade) }
    init(row: borrowing RowView) throws { paper = try Paper(row: row) }
    func encode(to arguments: inout ArgumentWriter) throws { try paper.encode(to: &arguments) }
  }

  private static let positive = Rule("Paper.positive", of: "Paper", .condition(sql: "rating > 0"))
  private static let rename = Migration(
    version: 1, name: "stars", sql: "ALTER TABLE Paper RENAME COLUMN rating TO stars")

  /// A file with `rules`, last opened by a program that does not declare them.
  private func file(_ rules: Rule...) throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("paper.store"), models: Paper.self)
    for rule in rules { try store.add(rule) }
    store.close()
    return directory
  }

  @Test func aColumnIsRenamedUnderACondition() throws {
    let directory = try file(Self.positive)
    let path = directory.file("paper.store")
    let notices = Recorder<StoreError>()
    let store = try Store(
      at: path, models: StarredPaper.self, migrations: [Self.rename], onError: notices.add)
    #expect(notices.taken() == [])
    #expect(
      try store.rules() == [Rule("Paper.positive", of: "Paper", .condition(sql: "stars > 0"))])
    try store.write { tx in try tx.insert(StarredPaper(id: 1, stars: 3)) }
    let error = failure { try store.write { tx in try tx.insert(StarredPaper(id: 2, stars: 0)) } }
    #expect(error?.violations.map(\.rule) == ["Paper.positive"])
    #expect(
      try store.violations(of: StarredPaper(id: 3, stars: 0)).map(\.rule) == ["Paper.positive"])
    #expect(try store.findings(in: StarredPaper.schema) == [])
    // Others can be added and dropped beside it.
    try store.add(.required(\StarredPaper.stars))
    try store.dropRule("Paper.stars.required")
    store.close()
    let again = try Store(
      at: path, models: StarredPaper.self, migrations: [Self.rename], onError: notices.add)
    #expect(notices.events == [])
    #expect(
      failure { try again.write { tx in try tx.insert(StarredPaper(id: 2, stars: 0)) } }?.code
        == .rejected)
    try again.dropRule("Paper.positive")
    try again.write { tx in try tx.insert(StarredPaper(id: 2, stars: 0)) }
  }

  @Test func aPropertyIsRenamedOverTheSameColumn() throws {
    let rule = Rule("Paper.rated", of: "Paper", fields: ["rating"], .required)
    let path = try file(rule)
    for _ in 1...2 {
      let store = try Store(at: path.file("paper.store"), models: RenamedPaper.self)
      #expect(
        try store.rules() == [Rule("Paper.rated", of: "Paper", fields: ["grade"], .required)])
      let error = failure {
        try store.write { tx in try tx.insert(RenamedPaper(id: 1, grade: nil)) }
      }
      #expect(error?.violations.map(\.rule) == ["Paper.rated"])
      #expect(
        try store.violations(of: RenamedPaper(id: 1, grade: nil)).map(\.rule) == ["Paper.rated"])
      store.close()
    }
  }

  @Test func aRuleWhoseTableIsMissingIsDroppedAndReported() throws {
    let directory = try file(
      Self.positive, Rule("Paper.rated", of: "Paper", fields: ["rating"], .required))
    let notices = Recorder<StoreError>()
    let drop = Migration(version: 1, name: "drop", sql: "DROP TABLE Paper")
    let store = try Store(
      at: directory.file("paper.store"), models: Room.self, migrations: [drop],
      onError: notices.add)
    #expect(notices.events.map(\.code) == [.unsupportedSchema, .unsupportedSchema])
    #expect(notices.events.first?.message.contains("its table or columns no longer exist") == true)
    #expect(try store.rules() == [])
    try store.write { tx in try tx.insert(Room(id: 1, name: "Blue")) }
  }

  @Test(arguments: [("foo", "Foo"), ("caf\u{E9}", "cafe\u{301}")])
  func aRuleIsRenamedInCaseOrNormalisationOnly(names: (old: String, new: String)) throws {
    func rule(_ name: String) -> Rule {
      Rule(name, of: "Booking", fields: ["start"], .required)
    }
    let hotel = try Hotel(rules: [rule(names.old)])
    let path = hotel.store.path
    hotel.store.close()
    try Store(at: path, models: Room.self, Booking.self, rules: [rule(names.new)]).close()
    // A program that declares none of them can also open and change the file.
    let other = try Store(at: path, models: Room.self, Booking.self)
    #expect(try other.rules().map { Array($0.name.utf8) } == [Array(names.new.utf8)])
    try other.add(.immutable(\Booking.guest))
    #expect(failure { try other.add(rule(names.old)) }?.code == .configurationConflict)
    try other.dropRule(names.new)
    #expect(try other.rules().map(\.name) == ["Booking.guest.immutable"])
  }

  /// What another process leaves behind when it adds a field, and a rule about it.
  @Test func aRuleAboutAFieldUnknownToThisProgramIsNotEvaluated() throws {
    let hotel = try Hotel(rules: [.atMost(9, of: Booking.self, per: \.room, name: "few")])
    try PlainDatabase(hotel.store.path).execute(
      """
      ALTER TABLE Booking ADD COLUMN size INTEGER;
      UPDATE _ms_rules SET definition = replace(definition, '"room"', '"size"');
      """)
    try hotel.store.write { tx in try tx.insert(Booking(id: 9)) }
    #expect(try hotel.store.rules().map(\.demand) == [.countAtMost(count: 9, per: ["size"])])
    #expect(
      try hotel.store.violations(of: Booking(id: 1, room: nil, price: -1)).map(\.rule)
        == ["Booking.price.range"])
    #expect(try hotel.store.findings(in: Booking.schema) == [])
  }

  /// Once, the other record was searched for each record, without an index.
  @Test(arguments: [nil, "note = 'late'"])
  func recordsWithEqualValuesAreSearchedOnceForAll(condition: String?) throws {
    let hotel = try Hotel()
    let rule = Rule(
      "Booking.once", of: "Booking", fields: ["guest", "room"], .unique(where: condition),
      severity: .warning)
    try hotel.store.add(rule)
    #expect(
      try hotel.store.findings(in: Booking.schema).map(\.keys)
        == (condition == nil ? [[[.integer(1)], [.integer(2)]]] : []))
    let objects = RuleObjects(try ResolvedRule(rule, in: [Booking.schema, Room.schema]))
    let offence = try #require(objects.offence)
    let plan = try PlainDatabase(hotel.store.path).rows(
      "EXPLAIN QUERY PLAN SELECT id FROM Booking WHERE \(offence.sql)")
    #expect(!plan.isEmpty)
    #expect(!plan.contains { "\($0)".contains("CORRELATED") })
    try hotel.store.write { tx in
      try tx.execute("UPDATE Booking SET room = NULL, note = 'late'")
    }
    #expect(try hotel.store.findings(in: Booking.schema).isEmpty)
    try hotel.store.write { tx in try tx.execute("UPDATE Booking SET room = 2") }
    #expect(try hotel.store.findings(in: Booking.schema).map(\.count) == [3])
  }
}
