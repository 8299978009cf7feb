import Testing

@testable import ModelStore

/// Values come into a generated column too, so it does not hide that a binding reads its own field.
@Suite struct GeneratedSourceTests {
  private static let tables = """
    CREATE TABLE Node (
      id INTEGER PRIMARY KEY, parent INTEGER REFERENCES Node (id), own INTEGER,
      total INTEGER, g INTEGER GENERATED ALWAYS AS (total + own /* both */)
    );
    CREATE TABLE T (
      id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c INTEGER,
      g INTEGER AS ("a" + 1) STORED, h INTEGER AS (g * 2), l INTEGER AS (length(b))
    );
    INSERT INTO T (id, a, b, c) VALUES (1, 1, 2, 3);
    """

  private static func derive(_ target: String, _ sql: String) -> Binding {
    Binding(
      BindingSchema(target: .init(model: "T", field: target), formula: .derive(sql: sql)))
  }

  private static func refusal(_ binding: Binding, in world: JournalWorld) -> String? {
    let error = failure { try world.store.add(binding) }
    #expect(error?.code == .unsupportedSchema)
    return error?.message
  }

  @Test func aGeneratedColumnThatNamesTheTargetIsACircle() throws {
    let world = try JournalWorld(Self.tables, detail: nil)
    let total = Binding(
      BindingSchema(
        target: .init(model: "Node", field: "total"),
        formula: .aggregate(
          .init(
            .sum, model: "Node", field: "g",
            match: [.init(source: "parent", target: "id")]))))
    #expect(
      Self.refusal(total, in: world)
        == "Bindings go round in a circle: Node.total → Node.g → Node.total. Remove one of them.")
    #expect(
      Self.refusal(Self.derive("a", "h + 1"), in: world)
        == "Bindings go round in a circle: T.a → T.g → T.h → T.a. Remove one of them.")
    #expect(try world.store.bindings() == [])
  }

  @Test func aCircleThroughSeveralBindingsIsSpelledOut() throws {
    let world = try JournalWorld(Self.tables, detail: nil)
    try world.store.add(Self.derive("c", "h"))
    #expect(
      Self.refusal(Self.derive("a", "c + 1"), in: world)
        == "Bindings go round in a circle: T.c → T.a → T.g → T.h → T.c. Remove one of them.")
    #expect(try world.store.bindings().map(\.name) == ["T.c"])
  }

  @Test func whatIsNoCircleFollowsThroughGeneratedColumns() throws {
    let world = try JournalWorld(Self.tables, detail: nil)
    try world.store.add(Self.derive("c", "h"))
    try world.store.add(Self.derive("a", "b + l"))
    try world.other.execute("UPDATE T SET b = 10")
    #expect(
      try world.other.rows("SELECT a, b, c FROM T")
        == [[.integer(12), .integer(10), .integer(26)]])
    #expect(try world.store.bindingFindings() == [])
  }

  @Test func anEndOfATwoWayBindingMayBeReadThroughAGeneratedColumn() throws {
    let world = try JournalWorld(Self.tables, detail: nil)
    func pair(forward: String, backward: String) -> Binding {
      Binding(
        BindingSchema(
          target: .init(model: "T", field: "c"),
          formula: .twoWay(
            .init(
              left: .init(model: "T", field: "a"), match: [], forward: forward,
              backward: backward, conflict: .leftWins, initially: .left))))
    }
    #expect(
      Self.refusal(pair(forward: "a", backward: "c + g"), in: world)
        == "Bindings go round in a circle: T.a → T.g → T.a. Remove one of them.")
    try world.store.add(pair(forward: "g - 1", backward: "c"))
    try world.other.execute("UPDATE T SET a = 7")
    #expect(try world.other.rows("SELECT a, c FROM T") == [[.integer(7), .integer(7)]])
  }
  @Test func theWayToAFieldLeadsThroughGeneratedColumns() throws {
    let world = try JournalWorld(Self.tables, detail: nil)
    try world.store.add(Self.derive("c", "h"))
    try world.store.add(Self.derive("a", "b + l"))
    func way(_ field: String) throws -> [String] {
      try world.store.bindings(into: .init(model: "T", field: field)).map(\.name)
    }
    #expect(try way("c") == ["T.a", "T.c"])
    #expect(try way("h") == ["T.a"])
    #expect(try way("l") == [])
  }

  /// Not every column of a table is a field of the program that declares it.
  @Test func aColumnThatIsNoFieldHidesNoCircle() throws {
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
      try BindingInstallation([binding], in: [model], on: fixture.connection)
    }
    #expect(
      error?.message
        == "Bindings go round in a circle: T.a → T.hidden → T.g → T.a. Remove one of them.")
  }

  private static let references = """
    CREATE TABLE A (id INTEGER PRIMARY KEY, name TEXT, code TEXT UNIQUE);
    CREATE TABLE B (
      id INTEGER PRIMARY KEY, a INTEGER REFERENCES A (id),
      code TEXT REFERENCES A (CODE) ON UPDATE CASCADE, label TEXT);
    """

  private static let code = Binding(
    BindingSchema(target: .init(model: "A", field: "code"), formula: .derive(sql: "upper(name)")))

  private static let label = Binding(
    BindingSchema(target: .init(model: "B", field: "label"), formula: .derive(sql: "lower(code)")))

  @Test func aReferenceFollowsItsKeyWhereItSaysSo() throws {
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
  @Test func aCircleThroughAReferenceIsSpelledOut() throws {
    let world = try JournalWorld(Self.references, detail: nil)
    let first = Binding(
      BindingSchema(
        target: .init(model: "A", field: "code"),
        formula: .aggregate(
          .init(
            .minimum, model: "B", field: "label", match: [.init(source: "a", target: "id")]))))
    try world.store.add(Self.label)
    #expect(
      Self.refusal(first, in: world)
        == "Bindings go round in a circle: B.label → A.code → B.code → B.label. Remove one of them."
    )
  }
}
