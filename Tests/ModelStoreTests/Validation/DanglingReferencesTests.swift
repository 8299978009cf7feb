import Testing

@testable import ModelStore

/// Naming the records whose deferred references COMMIT refuses, in files with oddities.
@Suite(.tags(.unit)) struct DanglingReferencesTests {
  private static func refusal(_ schema: String, _ sql: SQLText) throws -> StoreError? {
    let directory = try TemporaryDirectory()
    let path = directory.file("d.store")
    try PlainDatabase(path).execute(schema)
    let store = try Store(at: path)
    try store.adopt(["p", "c"])
    return failure { try store.write { tx in try tx.execute(sql) } }
  }

  @Test func aForeignKeyThatCannotBeCheckedHidesNoOther() throws {
    let error = try Self.refusal(
      """
      CREATE TABLE loose (id INTEGER PRIMARY KEY, x INTEGER);
      CREATE TABLE bad (id INTEGER PRIMARY KEY, x INTEGER REFERENCES loose (x));
      CREATE TABLE p (id INTEGER PRIMARY KEY);
      CREATE TABLE c (
        id INTEGER PRIMARY KEY, p INTEGER REFERENCES p DEFERRABLE INITIALLY DEFERRED);
      """, "INSERT INTO c VALUES (7, 70)")
    #expect(error?.code == .rejected)
    #expect(
      error?.violations == [
        Violation(
          kind: .reference, model: "c", key: [.integer(7)], fields: ["p"],
          rule: "c.p.reference", message: "must name an existing p",
          remedy: "Insert that record first, or name another.")
      ])
  }

  @Test func aColumnNamedRowidIsNotConfusedWithTheRowid() throws {
    let error = try Self.refusal(
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY);
      CREATE TABLE c (
        name TEXT PRIMARY KEY NOT NULL, rowid INTEGER,
        p INTEGER REFERENCES p DEFERRABLE INITIALLY DEFERRED);
      INSERT INTO c VALUES ('first', 2, NULL);
      """, "INSERT INTO c VALUES ('second', 1, 70)")
    #expect(error?.violations.map(\.key) == [[.text("second")]])
  }
}
