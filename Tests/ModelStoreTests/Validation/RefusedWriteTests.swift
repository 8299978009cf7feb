import Testing

@testable import ModelStore

/// Every way in which a write can break a rule, and what the error reports.
@Suite(.tags(.unit)) struct RefusedWriteTests {
  private static func rules(_ violations: [Violation]) -> [String] { violations.map(\.rule) }

  @Test func theErrorListsEverythingThatIsWrongWithARecord() throws {
    let hotel = try Hotel(rules: [.field(\Booking.start, .range(0...))])
    let bad = Booking(id: 1, room: 7, guest: " ", start: -1, price: -1)
    let expected = [
      Violation(
        kind: .check, model: "Booking", key: [.integer(1)], fields: ["guest"],
        rule: "Booking.guest.notBlank", message: "must not be empty", remedy: "Change the value."),
      Violation(
        kind: .check, model: "Booking", key: [.integer(1)], fields: ["price"],
        rule: "Booking.price.range", message: "must be 0 or greater", remedy: "Change the value."),
      Violation(
        kind: .check, model: "Booking", key: [.integer(1)], fields: ["start"],
        rule: "Booking.start.range", message: "must be 0 or greater", remedy: "Change the value."),
      Violation(
        kind: .unique, model: "Booking", key: [.integer(1)], fields: ["id"], rule: "Booking.key",
        message: "must be unique; another Booking has the same value",
        remedy: "Choose another value, or change the other record."),
      Violation(
        kind: .reference, model: "Booking", key: [.integer(1)], fields: ["room"],
        rule: "Booking.room.reference", message: "must name an existing Room",
        remedy: "Insert that record first, or name another."),
    ]
    #expect(try hotel.violations { tx in try tx.insert(bad) } == expected)
    let withoutKey = expected.filter { $0.rule != "Booking.key" }
    #expect(try hotel.violations { tx in _ = try tx.upsert(bad) } == withoutKey)
    #expect(try hotel.violations { tx in try tx.update(bad) } == withoutKey)
    let values: [String: SQLValue] = [
      "id": .integer(1), "room": .integer(7), "guest": .text(" "), "start": .integer(-1),
      "price": .real(-1), "end": .integer(1),
    ]
    #expect(
      try hotel.violations { tx in _ = try tx.insert(values, into: Booking.schema) } == expected)
    #expect(
      try hotel.violations { tx in _ = try tx.upsert(values, into: Booking.schema) } == withoutKey)
    #expect(
      try hotel.violations { tx in
        try tx.update(
          Booking.schema, key: [.integer(1)], set: ["price": .real(-1), "start": .integer(-1)])
      } == [expected[1], expected[2]])
  }

  @Test func oneBrokenRuleIsReportedWithSQLitesMessage() throws {
    let hotel = try Hotel()
    let error = failure {
      try hotel.store.write { tx in try tx.set(\Booking.price, to: -1, for: 1) }
    }
    #expect(error?.message == "Booking.price must be 0 or greater. Change the value.")
    #expect(error?.violationCount == 1)
  }

  @Test func aRuleIsBrokenThroughACascade() throws {
    let hotel = try Hotel()
    try hotel.store.write { tx in
      try tx.execute(
        "CREATE TABLE sale (id INTEGER PRIMARY KEY, booking INTEGER REFERENCES Booking ON DELETE SET NULL)"
      )
      try tx.execute("INSERT INTO sale VALUES (1, 1)")
    }
    try hotel.store.adopt(["sale"])
    try hotel.store.add(Rule("sale.booked", of: "sale", fields: ["booking"], .required))
    let violations = try hotel.violations { tx in _ = try tx.delete(Room.self, 1) }
    #expect(Self.rules(violations) == ["sale.booked"])
    #expect(violations.map(\.model) == ["sale"])
  }

  @Test func aRuleIsBrokenThroughATrigger() throws {
    let hotel = try Hotel()
    #expect(
      try hotel.shell(
        "CREATE TRIGGER t AFTER UPDATE ON Room BEGIN UPDATE Booking SET price = -1; END") == nil)
    let violations = try hotel.violations { tx in try tx.set(\Room.name, to: "Green", for: 1) }
    #expect(
      violations == [
        Violation(
          kind: .check, model: "Booking", fields: ["price"], rule: "Booking.price.range",
          message: "must be 0 or greater", remedy: "Change the value.")
      ])
  }

  @Test func allViolationsOfAStatementAreCountedAndTheFirstAreListed() throws {
    let hotel = try Hotel()
    try hotel.store.write { tx in
      for id in 4...10_000 { try tx.insert(Booking(id: Int64(id), room: nil)) }
    }
    let heard = Recorder<Int>()
    let watching = try hotel.store.observe(Booking.self) { heard.add($0.changes.count) }
    func refusal(_ body: (borrowing WriteTransaction) throws -> Void) throws -> StoreError? {
      let before = try hotel.contents()
      var refused: StoreError?
      try hotel.store.write { tx in
        refused = failure { try body(tx) }
        // The transaction continues, and CHECKs are evaluated again.
        let single = failure { try tx.set(\Booking.price, to: -1, for: 1) }
        #expect(single?.violations.map(\.rule) == ["Booking.price.range"])
      }
      #expect(try hotel.contents() == before)
      return refused
    }
    for _ in 1...2 {
      let error = try refusal { tx in
        try tx.execute("UPDATE Booking SET price = -1, guest = ''")
      }
      #expect(error?.violationCount == 20_000)
      #expect(error?.violations.count == 100)
      #expect(
        error?.violations.prefix(2).map(\.rule) == [
          "Booking.guest.notBlank", "Booking.price.range",
        ])
      #expect(error?.violations.prefix(3).map(\.key) == [1, 1, 2].map { [.integer($0)] })
    }
    let byQuery = try refusal { tx in
      _ = try tx.update(Booking.where { $0.id > 9_998 }, set: \Booking.price, to: -1)
    }
    #expect(byQuery?.violations.map(\.key) == [[.integer(9_999)], [.integer(10_000)]])
    let one = try refusal { tx in try tx.execute("UPDATE Booking SET price = -1 WHERE id = 3") }
    #expect(one?.violationCount == 1)
    #expect(one?.violations.map(\.key) == [[.integer(3)]])
    hotel.store.waitForDelivery()
    #expect(heard.events == [])
    watching.cancel()
  }

  @Test func aTriggersOwnRefusalNamesTheTrigger() throws {
    let hotel = try Hotel()
    #expect(
      try hotel.shell(
        """
        CREATE TRIGGER "no 'red'" BEFORE UPDATE ON Room WHEN NEW.name = 'Red'
        BEGIN SELECT RAISE(ABORT, 'it''s taken'); END
        """) == nil)
    let violations = try hotel.violations { tx in try tx.set(\Room.name, to: "Red", for: 1) }
    #expect(
      violations == [
        Violation(kind: .trigger, model: "Room", rule: "no 'red'", message: "it's taken")
      ])
  }

  @Test func aDeferredForeignKeyIsReportedAtCommitWithItsRecords() throws {
    let hotel = try Hotel()
    let violations = try hotel.violations { tx in
      try tx.execute("PRAGMA defer_foreign_keys = ON")
      try tx.insert(Booking(id: 8, room: 77))
      try tx.insert(Booking(id: 9, room: 78))
    }
    func violation(_ key: Int64) -> Violation {
      Violation(
        kind: .reference, model: "Booking", key: [.integer(key)], fields: ["room"],
        rule: "Booking.room.reference", message: "must name an existing Room",
        remedy: "Insert that record first, or name another.")
    }
    #expect(violations == [violation(8), violation(9)])
    let previewed = failure {
      try hotel.store.preview { tx in
        try tx.execute("PRAGMA defer_foreign_keys = ON")
        try tx.insert(Booking(id: 8, room: 77))
      }
    }
    #expect(previewed?.violations == [violation(8)])
    try hotel.store.write { tx in
      try tx.execute("PRAGMA defer_foreign_keys = ON")
      try tx.insert(Booking(id: 8, room: 77))
      try tx.insert(Room(id: 77, name: "Late"))
    }
  }

  @Test func aConflictClauseCannotBypassARule() throws {
    let hotel = try Hotel(rules: [
      .noOverlap(from: \Booking.start, to: \Booking.end, per: \Booking.room, name: "Booking.apart"),
      .immutable(\Booking.guest),
    ])
    for clause in ["OR IGNORE", "OR REPLACE", "OR FAIL", "OR ABORT"] {
      let violations = try hotel.violations { tx in
        try tx.execute(
          SQLText(sql: "INSERT \(clause) INTO Booking VALUES (9, 1, 'B', 3, 6, 1, NULL)"))
      }
      #expect(Self.rules(violations) == ["Booking.apart"])
      let changed = try hotel.violations { tx in
        try tx.execute(SQLText(sql: "UPDATE \(clause) Booking SET guest = 'Eve'"))
      }
      #expect(Set(Self.rules(changed)) == ["Booking.guest.immutable"])
      #expect(changed.map(\.key) == [1, 2, 3].map { [.integer($0)] })
    }
  }

  @Test func violationsOfADraftAreReportedWithoutAStore() throws {
    #expect(
      try Booking(id: 1, room: 7, guest: "", price: -2).violations().map(\.rule)
        == ["Booking.guest.notBlank", "Booking.price.range"])
    #expect(try Booking(id: 1, room: 7).violations() == [])
    let long = String(repeating: "x", count: 21)
    #expect(
      try Booking(id: 1, guest: long).violations().map(\.message) == [
        "must have at most 20 characters"
      ])
    #expect(failure { try Booking(id: 1, price: .nan).violations() }?.code == .invalidValue)
  }

  @Test func aStoreChecksADraftAgainstItsRecords() throws {
    let hotel = try Hotel(rules: [
      .noOverlap(from: \Booking.start, to: \Booking.end, per: \Booking.room, name: "Booking.apart"),
      .atMost(2, of: Booking.self, per: \Booking.room, name: "Booking.perRoom", severity: .warning),
    ])
    #expect(
      try Self.rules(hotel.store.violations(of: Booking(id: 9, start: 4, end: 6)))
        == ["Booking.apart", "Booking.perRoom"])
    #expect(try hotel.store.violations(of: Booking(id: 1, start: 1, end: 2)) == [])
    #expect(
      try Self.rules(hotel.store.violations(of: Room(id: 9, name: "Blue"))) == ["Room.name.unique"])
    #expect(try hotel.store.violations(of: Room(id: 1, name: "Blue")) == [])
  }

  @Test func valuesOfARefusedRecordAreReportedWhenRequested() throws {
    let directory = try TemporaryDirectory()
    var configuration = StoreConfiguration()
    configuration.refusals.includesValues = true
    let store = try Store(
      at: directory.file("hotel.store"), models: Room.self, Booking.self,
      configuration: configuration)
    let error = failure {
      try store.write { tx in try tx.insert(Booking(id: 1, room: nil, guest: "", price: -1)) }
    }
    #expect(error?.violations.map(\.values) == [[.text("")], [.real(-1)]])
  }
}
