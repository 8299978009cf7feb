import Testing

@testable import ModelStore

/// References that are checked at the end of a transaction, and what keeps a record from going.
@Suite(.tags(.unit)) struct DeferredReferencesTests {
  private let directory: TemporaryDirectory
  private let store: Store

  init() throws {
    directory = try TemporaryDirectory()
    let path = directory.file("references.db")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE Person(
        id INTEGER PRIMARY KEY, boss INTEGER REFERENCES Person, code TEXT UNIQUE);
      CREATE TABLE Desk(
        floor INTEGER NOT NULL, number INTEGER NOT NULL, owner INTEGER REFERENCES Person,
        PRIMARY KEY(floor, number)) WITHOUT ROWID;
      CREATE TABLE Lamp(
        id INTEGER PRIMARY KEY, floor INTEGER, number INTEGER,
        FOREIGN KEY(floor, number) REFERENCES Desk);
      CREATE TABLE Tag(code TEXT PRIMARY KEY, note TEXT NOT NULL);
      """)
    store = try Store(at: path)
    try store.adopt()
  }

  private func insert(
    _ model: String, _ values: [String: Int64], _ tx: borrowing WriteTransaction
  ) throws {
    try tx.insert(
      values.mapValues { .integer($0) }, into: store.schema.model(named: model))
  }

  @Test func aRecordMayComeBeforeTheOneItRefersTo() throws {
    let error = failure {
      try store.write { tx in try insert("Person", ["id": 1, "boss": 2], tx) }
    }
    #expect(error?.code == .rejected)
    try store.write { tx in
      try tx.deferReferenceChecks()
      try insert("Person", ["id": 1, "boss": 2], tx)
      try insert("Person", ["id": 2, "boss": 1], tx)
      try tx.checkReferences()
    }
    #expect(
      try store.fetch(StoreQuery<DynamicRecord>(store.schema.model(named: "Person"))).count == 2)
    // The next transaction checks at once again.
    let next = failure {
      try store.write { tx in
        try insert("Person", ["id": 3, "boss": 4], tx)
        try insert("Person", ["id": 4], tx)
      }
    }
    #expect(next?.code == .rejected)
  }

  @Test func brokenReferencesAreListedByRecordBeforeAndAtCommit() throws {
    func write(_ tx: borrowing WriteTransaction) throws {
      try tx.deferReferenceChecks()
      try insert("Person", ["id": 7, "boss": 70], tx)
      try insert("Desk", ["floor": 1, "number": 2, "owner": 80], tx)
      try insert("Desk", ["floor": 1, "number": 3, "owner": 81], tx)
    }
    let broken = ["Desk [1, 2] owner", "Desk [1, 3] owner", "Person [7] boss"]
    func places(of error: StoreError?) -> [String] {
      error?.violations.map { "\($0.model) \($0.key ?? []) \($0.fields.joined())" }.sorted() ?? []
    }
    let atCommit = failure { try store.write { tx in try write(tx) } }
    #expect(places(of: atCommit) == broken)
    try store.write { tx in
      let early = failure {
        try tx.savepoint { tx in
          try write(tx)
          try tx.checkReferences()
        }
      }
      #expect(places(of: early) == broken)
      try tx.checkReferences()
    }
  }

  @Test func theErrorOfADeletionListsTheReferencingRecords() throws {
    try store.write { tx in
      for id in 1...4 { try insert("Person", ["id": Int64(id)], tx) }
      try insert("Person", ["id": 5, "boss": 4], tx)
      try insert("Desk", ["floor": 1, "number": 2, "owner": 2], tx)
      try insert("Lamp", ["id": 1, "floor": 1, "number": 2], tx)
    }
    let person = try store.schema.model(named: "Person")
    let desk = try store.schema.model(named: "Desk")
    func messages(_ body: (borrowing WriteTransaction) throws -> Void) -> [String] {
      failure { try store.write { tx in try body(tx) } }?.violations.map {
        "\($0.model) \($0.key ?? []) \($0.message)"
      } ?? []
    }
    let desks = "Person [2] is still referred to through Desk.owner"
    let boss = "Person [4] is still referred to through Person.boss"
    #expect(
      messages { tx in try tx.delete(StoreQuery<DynamicRecord>(person).limit(4)) } == [desks, boss])
    // What goes with it holds nothing.
    #expect(messages { tx in try tx.delete(StoreQuery<DynamicRecord>(person)) } == [desks])
    #expect(messages { tx in try tx.delete(person, key: [.integer(4)]) } == [boss])
    #expect(
      messages { tx in try tx.delete(desk, key: [.integer(1), .integer(2)]) }
        == ["Desk [1, 2] is still referred to through Lamp.floor,number"])
  }

  @Test(
    arguments: [["note": .text("n")], ["code": .null, "note": .text("n")]] as [[String: SQLValue]])
  func aRecordWithoutItsKeyIsRefusedBeforeItIsWritten(values: [String: SQLValue]) throws {
    let tag = try store.schema.model(named: "Tag")
    try store.write { tx in
      for isUpsert in [false, true] {
        let error = failure {
          _ = try isUpsert ? tx.upsert(values, into: tag) : tx.insert(values, into: tag)
        }
        #expect(error?.code == .rejected)
        #expect(
          error?.violations.map { "\($0.kind) \($0.rule) \($0.message)" }
            == ["required Tag.code.required must have a value"])
      }
      let count = try tx.count(StoreQuery<DynamicRecord>(tag))
      #expect(count == 0)
    }
    let error = failure { try store.write { tx in _ = try tx.insert([:], into: tag) } }
    #expect(error?.violations.map(\.rule).sorted() == ["Tag.code.required", "Tag.note.required"])
  }
}
