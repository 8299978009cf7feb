import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct TriggerSQLTests {
  private static let fields = [
    FieldSchema(name: "id", type: .integer, isRowID: true),
    FieldSchema(name: "title", column: "the \"title\"", type: .text),
  ]

  @Test func aTriggerHasTheExpectedSQL() {
    let trigger = TriggerSQL(
      "a \"b\"", .before(.update(of: [Self.fields[1]])), on: "t", when: "NEW.x > 0\n  AND 1",
      ["  SELECT 1;", "  SELECT 2;"])
    #expect(
      trigger.object(of: .rule("r"))
        == SchemaObject(
          kind: .trigger, name: "a \"b\"", owner: .rule("r"),
          sql: """
            CREATE TRIGGER "a ""b"\""
            BEFORE UPDATE OF "the ""title"\"" ON "t"
            WHEN NEW.x > 0
              AND 1
            BEGIN
              SELECT 1;
              SELECT 2;
            END
            """))
  }

  @Test func momentsAreWrittenAsSQLiteReadsThem() {
    var generated = Self.fields[1]
    generated.generated = .stored
    let moments: [TriggerSQL.Moment] = [
      .after(.insert), .before(.delete), .after(.anyUpdate), .after(.update(of: Self.fields)),
      .after(.update(of: [Self.fields[0], generated])),
      .before(.update(of: ["a", "b", "a"], includingRowID: false)),
    ]
    #expect(
      moments.map(\.description) == [
        "AFTER INSERT", "BEFORE DELETE", "AFTER UPDATE",
        #"AFTER UPDATE OF "id", "the ""title""", "rowid", "oid", "_rowid_""#, "AFTER UPDATE",
        #"BEFORE UPDATE OF "a", "b""#,
      ])
  }

  @Test func rowsMatchFieldByField() {
    #expect(RowColumn("NEW", Self.fields[1]).sql == #"NEW."the ""title""""#)
    #expect(
      RowColumn.matching(Self.fields, of: "NEW", "IS", Self.fields, of: "OLD")
        == #"NEW."id" IS OLD."id" AND NEW."the ""title""" IS OLD."the ""title""""#)
  }
}
