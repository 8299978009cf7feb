import Testing

@testable import ModelStore
@testable import SchemaCompiler

/// Whatever reads a whole store to check it takes time in proportion to the records, or n log n: so
/// four times as many records may take six times as many steps, where a check of each record
/// against all others takes sixteen times as many.
@Suite(.tags(.unit)) struct CheckCostTests {
  private static let counts = [500, 2_000]
  private static let ratioMax = 6.0

  private func check(_ name: String, _ steps: [Int]) {
    let ratio = Double(steps[1]) / Double(max(steps[0], 1))
    #expect(steps[0] > 500 && ratio <= Self.ratioMax, "\(name): \(steps), ratio \(ratio)")
  }

  /// A hotel with one room that all bookings share, one after the other, and as many rooms.
  private static func hotel(_ count: Int) throws -> Hotel {
    let hotel = try Hotel()
    try PlainDatabase(hotel.store.path).execute(
      """
      DELETE FROM Booking; DELETE FROM Room;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      INSERT INTO Room SELECT i, 'room ' || i FROM n;
      INSERT INTO Booking SELECT id, 1, 'guest', id, id + 1, 1, 'note ' || id FROM Room;
      """)
    return hotel
  }

  private static let many = 1_000_000

  private static let rules: [Rule] = [
    .required(\Booking.note), .field(\Booking.note, .length(2...)),
    .unique("Booking.once", \Booking.room, \Booking.start),
    .unique("Booking.oneLate", \Booking.note, where: "price > 0"),
    .reference(\Booking.start, to: Room.self), .immutable(\Booking.guest),
    .atMost(many, of: Booking.self, name: "Booking.few"),
    .atMost(many, of: Booking.self, per: \Booking.room, name: "Booking.perRoom"),
    .sum(\Booking.price, atMost: Double(many), name: "Booking.all"),
    .sum(\Booking.price, atMost: Double(many), per: \Booking.room, name: "Booking.budget"),
    .noOverlap(from: \Booking.start, to: \Booking.end, name: "Booking.alone"),
    .noOverlap(from: \Booking.start, to: \Booking.end, per: \Booking.room, name: "Booking.apart"),
  ]

  @Test func everyKindOfRuleIsCheckedInOnePass() throws {
    let hotels = try Self.counts.map { try Self.hotel($0) }
    for rule in Self.rules where rule.kind != .immutable {
      let steps = try hotels.map { hotel in
        try StepCounter.steps(reading: hotel.store) {
          let finding = try hotel.store.finding(of: rule)
          #expect(finding == nil)
        }
      }
      check(rule.name, steps)
    }
  }

  @Test func everyStepOfDoctorTakesOnePass() throws {
    let stores = try Self.counts.map { count in
      let hotel = try Self.hotel(count)
      for rule in Self.rules { try hotel.store.add(rule) }
      try hotel.store.changeJournal.enable()
      return hotel
    }
    func compare(_ name: String, _ isSound: (Store) throws -> Bool) throws {
      let steps = try stores.map { hotel in
        try StepCounter.steps(reading: hotel.store) {
          let found = try isSound(hotel.store)
          #expect(found, "\(name)")
        }
      }
      let ratio = Double(steps[1]) / Double(max(steps[0], 1))
      #expect(ratio <= Self.ratioMax, "\(name): \(steps), ratio \(ratio)")
    }
    try compare("integrity") { try $0.checkIntegrity() == [] }
    try compare("rules") { try $0.schemaDrift(of: [.rules]) == [] }
    try compare("bindings") { try $0.bindingFindings() == [] }
    try compare("journal") { try $0.changeJournal.status().drift.map(\.owner.name) == [] }
    try compare("tables") { try $0.adoptableTables().isEmpty }
    try compare("findings") { try $0.findings(in: Booking.schema) == [] }
    try compare("other findings") { try $0.findings(in: Room.schema) == [] }
  }

  private static let models = [
    ModelSchema(
      name: "P",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(name: "code", type: .text, isUnique: true),
        FieldSchema(name: "r", type: .integer, isOptional: true),
        FieldSchema(name: "list", type: .text, isOptional: true),
        FieldSchema(name: "mean", type: .real, isOptional: true),
      ], key: ["id"], isAdopted: true),
    ModelSchema(
      name: "C",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(name: "p", type: .integer, isOptional: true),
        FieldSchema(name: "v", type: .integer, isOptional: true),
        FieldSchema(name: "code", type: .text, isOptional: true),
        FieldSchema(name: "t", type: .integer, isOptional: true),
        FieldSchema(name: "text", type: .text, isOptional: true),
        FieldSchema(name: "real", type: .real, isOptional: true),
      ], key: ["id"], isAdopted: true),
  ]

  /// Every kind of binding; aggregates by a field that no index of the table has.
  private static var bindings: [BindingSchema] {
    typealias Field = BindingSchema.Field
    let derived = Field(model: "C", field: "t")
    let fields: [BindingSchema] = [
      BindingSchema(
        target: Field(model: "C", field: "text"),
        formula: .copy(source: Field(model: "P", field: "code"), through: "p")),
      BindingSchema(target: derived, formula: .derive(sql: "v + 1")),
      BindingSchema(
        target: Field(model: "C", field: "real"),
        formula: .lookup(
          .init(
            source: Field(model: "P", field: "mean"),
            match: [.init(source: "code", target: "code")]))),
      BindingSchema(
        target: derived,
        formula: .twoWay(
          .init(left: Field(model: "C", field: "v"), match: [], forward: "v", backward: "t"))),
    ]
    let aggregates = BindingSchema.Aggregate.Function.allCases.map { function in
      BindingSchema(
        target: Field(model: "P", field: Self.target(of: function)),
        formula: .aggregate(
          .init(
            function, model: "C", field: function == .count ? nil : "v",
            order: [.first, .last, .joined].contains(function) ? "id" : nil,
            match: [.init(source: "p", target: "id")])))
    }
    return fields + aggregates
  }

  /// The field of `P` that can hold what `function` gives.
  private static func target(of function: BindingSchema.Aggregate.Function) -> String {
    switch function {
    case .average: "mean"
    case .joined: "list"
    default: "r"
    }
  }

  @Test func everyKindOfBindingIsCheckedInOnePass() throws {
    for binding in Self.bindings {
      let steps = try Self.counts.map { count in
        let fixture = try BindingFixture(
          """
          CREATE TABLE P (id INTEGER PRIMARY KEY, code TEXT UNIQUE, r INTEGER, list TEXT, mean REAL);
          CREATE TABLE C (id INTEGER PRIMARY KEY, p INTEGER, v INTEGER, code TEXT, t INTEGER, text TEXT, real REAL);
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
          INSERT INTO P (id, code, mean) SELECT i, 'c' || i, i FROM n;
          INSERT INTO C (id, p, v, code) SELECT id, CASE WHEN id % 2 THEN 1 ELSE id END, id, code
          FROM P;
          """)
        try fixture.install([binding], in: Self.models)
        let installation = try CompiledBindings([binding], in: Self.models)
        return try StepCounter.steps(on: fixture.connection) {
          let found = try installation.findings(on: fixture.connection, maxKeyCount: 5)
          #expect(found == [])
          for made in installation.bindings {
            _ = try made.lossyRecordCount(on: fixture.connection)
          }
        }
      }
      check(binding.description, steps)
    }
  }

  /// What a check of all records finds is what a check of each would find.
  @Test func checkingAllTogetherFindsTheSameAsCheckingEach() throws {
    var random = SeededGenerator(seed: 15)
    let hotel = try Hotel()
    let other = try PlainDatabase(hotel.store.path)
    for round in 0..<40 {
      try other.execute("DELETE FROM Booking")
      for id in 1...Int.random(in: 1...12, using: &random) {
        let room = [nil, 1, 2].randomElement(using: &random) ?? nil
        let start = Int.random(in: 0...9, using: &random)
        let end = start + Int.random(in: -2...4, using: &random)
        let price = Int.random(in: 0...5, using: &random)
        try other.execute(
          """
          INSERT INTO Booking
          VALUES (\(id), \(room.map(String.init) ?? "NULL"), 'g', \(start), \(end), \(price), NULL)
          """)
      }
      let rules: [Rule] = [
        .atMost(3, of: Booking.self, per: \Booking.room, name: "b.count"),
        .atMost(6, of: Booking.self, name: "b.all"),
        .sum(\Booking.price, atMost: 7, per: \Booking.room, name: "b.sum"),
        .sum(\Booking.price, atMost: 20, name: "b.total"),
        .noOverlap(from: \Booking.start, to: \Booking.end, per: \Booking.room, name: "b.apart"),
        .noOverlap(from: \Booking.start, to: \Booking.end, name: "b.alone"),
      ]
      for rule in rules {
        let sql = RuleSQL(try ResolvedRule(rule, in: [Booking.schema, Room.schema]))
        func keys(_ offence: SQLText?) throws -> [[SQLValue]] {
          try other.rows(
            "SELECT id FROM Booking WHERE (\(try #require(offence).sql)) IS TRUE ORDER BY id")
        }
        #expect(
          try keys(sql.sweepingOffence) == keys(sql.offence),
          "seed 15, round \(round), \(rule.name)")
      }
    }
  }
}
