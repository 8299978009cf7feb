import Testing

@testable import ModelStore

/// What SQLite writes along: generated columns, fields or not, and references with ON UPDATE.
@Suite(.tags(.unit)) struct ComputedColumnTests {
  @Test func dependenciesAreFollowedThroughGeneratedColumns() throws {
    let world = try JournalWorld(
      """
      CREATE TABLE T (
        id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c INTEGER,
        g INTEGER AS ("a" + 1) STORED, h INTEGER AS (g * 2), l INTEGER AS (length(b))
      );
      """, detail: nil)
    for (field, sql) in [("c", "h"), ("a", "b + l")] {
      try world.store.add(
        FieldBinding(
          BindingSchema(target: .init(model: "T", field: field), formula: .derive(sql: sql))))
    }
    func way(_ field: String) throws -> [String] {
      try world.store.bindings(into: .init(model: "T", field: field)).map(\.name)
    }
    #expect(try way("c") == ["T.a", "T.c"])
    #expect(try way("h") == ["T.a"])
    #expect(try way("l") == [])
  }

  /// Not every column of a table is a field of the program that declares it.
  @Test func aColumnWithoutAFieldDoesNotHideACycle() throws {
    let fixture = try BindingFixture(
      """
      CREATE TABLE T (
        id INTEGER PRIMARY KEY, a INTEGER, hidden INTEGER AS (a + 1), g INTEGER AS (hidden * 2));
      """)
    let model = ModelSchema(
      name: "T",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(name: "a", type: .integer, isOptional: true),
        FieldSchema(name: "g", type: .integer, isOptional: true, generated: .virtual),
      ], key: ["id"])
    let binding = BindingSchema(
      target: .init(model: "T", field: "a"), formula: .derive(sql: "g + 1"))
    let error = #expect(throws: StoreError.self) {
      try CompiledBindings([binding], in: [model], on: fixture.connection)
    }
    #expect(
      error?.message
        == "Bindings form a cycle: T.a → T.hidden → T.g → T.a. Remove one of them.")
  }

  private static let references = """
    CREATE TABLE A (id INTEGER PRIMARY KEY, name TEXT, code TEXT UNIQUE);
    CREATE TABLE B (
      id INTEGER PRIMARY KEY, a INTEGER REFERENCES A (id),
      code TEXT REFERENCES A (CODE) ON UPDATE CASCADE, label TEXT);
    """

  private static let code = FieldBinding(
    BindingSchema(target: .init(model: "A", field: "code"), formula: .derive(sql: "upper(name)")))

  private static let label = FieldBinding(
    BindingSchema(target: .init(model: "B", field: "label"), formula: .derive(sql: "lower(code)")))

  @Test func aReferenceWithOnUpdateCascadeFollowsItsKey() throws {
    let world = try JournalWorld(Self.references, detail: nil)
    try world.store.add(Self.label)
    try world.store.add(Self.code)
    func way(_ field: String) throws -> [String] {
      try world.store.bindings(into: .init(model: "B", field: field)).map(\.name)
    }
    #expect(try way("label") == ["A.code", "B.label"])
    #expect(try way("code") == ["A.code"])
    #expect(try way("a") == [])
    try world.other.execute(
      """
      PRAGMA foreign_keys = ON;
      INSERT INTO A (id, name) VALUES (1, 'x');
      INSERT INTO B (id, a, code) VALUES (1, 1, 'X');
      UPDATE A SET name = 'y';
      """)
    #expect(try world.other.rows("SELECT code, label FROM B") == [[.text("Y"), .text("y")]])
  }

  /// With no record to show it by the first values that are written.
  @Test func theErrorListsACycleThroughAReference() throws {
    let world = try JournalWorld(Self.references, detail: nil)
    let first = FieldBinding(
      BindingSchema(
        target: .init(model: "A", field: "code"),
        formula: .aggregate(
          .init(
            .minimum, model: "B", field: "label", match: [.init(source: "a", target: "id")]))))
    try world.store.add(Self.label)
    let error = failure { try world.store.add(first) }
    #expect(
      error?.message
        == "Bindings form a cycle: B.label → A.code → B.code → B.label. Remove one of them."
    )
  }
}
