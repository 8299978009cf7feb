import Testing

@testable import ModelStore

/// The error of a refused deletion names the references in the way, and records that hold them.
@Suite(.tags(.unit)) struct RefusedDeletionTests {
  private let directory: TemporaryDirectory
  private let store: Store

  init() throws {
    directory = try TemporaryDirectory()
    let path = directory.file("shop.db")
    try PlainDatabase(path).execute(
      """
      CREATE TABLE Customer(id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE Invoice(
        id INTEGER PRIMARY KEY, payer INTEGER REFERENCES Customer ON DELETE RESTRICT,
        agent INTEGER REFERENCES Customer);
      CREATE TABLE Line(
        invoice INTEGER REFERENCES Invoice ON DELETE CASCADE, number INTEGER,
        PRIMARY KEY(invoice, number)) WITHOUT ROWID;
      CREATE TABLE Receipt(
        id INTEGER PRIMARY KEY, invoice INTEGER, number INTEGER,
        FOREIGN KEY(invoice, number) REFERENCES Line ON DELETE RESTRICT);
      CREATE TABLE Plain(line INTEGER, n INTEGER, FOREIGN KEY(line, n) REFERENCES Line);
      INSERT INTO Customer VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
      INSERT INTO Invoice VALUES (10, 1, 2), (11, 1, NULL), (12, 3, 3), (13, NULL, 4);
      INSERT INTO Line VALUES (10, 1), (10, 2), (11, 1), (13, 1);
      INSERT INTO Receipt VALUES (100, 10, 2), (101, 10, 2), (102, 11, 1);
      INSERT INTO Plain VALUES (13, 1);
      """)
    store = try Store(at: path)
    try store.adopt(["Customer", "Invoice", "Line", "Receipt"])
  }

  private func violations(deleting model: String, _ key: Int64...) throws -> [String] {
    let schema = try store.schema.model(named: model)
    let key = key.map { SQLValue.integer($0) }
    let error = failure { try store.write { tx in _ = try tx.delete(schema, key: key) } }
    #expect(error?.code == .rejected)
    return error?.violations.map {
      "\($0.kind) \($0.model) \($0.key ?? []) \($0.message). \($0.remedy ?? "")"
    } ?? []
  }

  @Test func aRestrictingReferenceIsNamedAsOneWithoutAnActionIs() throws {
    #expect(
      try violations(deleting: "Customer", 1) == [
        "reference Customer [1] is still referred to through Invoice.payer. "
          + "Delete or change 2 records of Invoice first, for example Invoice 10."
      ])
    #expect(
      try violations(deleting: "Customer", 2) == [
        "reference Customer [2] is still referred to through Invoice.agent. "
          + "Delete or change Invoice 10 first."
      ])
  }

  @Test func eachReferenceInTheWayIsNamedAndNoOther() throws {
    #expect(
      try violations(deleting: "Customer", 3)
        == ["payer", "agent"].map {
          "reference Customer [3] is still referred to through Invoice.\($0). "
            + "Delete or change Invoice 12 first."
        })
  }

  @Test func aReferenceToARecordOfTheCascadeIsNamed() throws {
    #expect(
      try violations(deleting: "Invoice", 10) == [
        "reference Line [10, 2] is still referred to through Receipt.invoice,number. "
          + "Delete or change 2 records of Receipt first, for example Receipt 100."
      ])
  }

  @Test func aTableThatIsNoModelHasNoExample() throws {
    #expect(
      try violations(deleting: "Line", 13, 1) == [
        "reference Line [13, 1] is still referred to through Plain.line,n. "
          + "Delete or change the record of Plain first."
      ])
  }

  /// A trigger of the application may use SQLite's words.
  @Test func aTriggerWithTheSameMessageStaysATrigger() throws {
    try store.write { tx in
      try tx.execute(
        """
        CREATE TRIGGER stop BEFORE DELETE ON Receipt
        BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END
        """)
    }
    let found = try violations(deleting: "Receipt", 100)
    #expect(found == ["trigger Receipt [] FOREIGN KEY constraint failed. "], "\(found)")
  }
}
