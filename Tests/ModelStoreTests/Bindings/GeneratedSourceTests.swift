import Testing

@testable import ModelStore

/// Values come into a generated column too, so it does not hide that a binding reads its own field.
@Suite(.tags(.unit)) struct GeneratedSourceTests {
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

  private static func derive(_ target: String, _ sql: String) -> FieldBinding {
    FieldBinding(
      BindingSchema(target: .init(model: "T", field: target), formula: .derive(sql: sql)))
  }

  private static func refusal(_ binding: FieldBinding, in world: JournalWorld) -> String? {
    let error = failure { try world.store.add(binding) }
    #expect(error?.code == .unsupportedSchema)
    return error?.message
  }

  @Test func aGeneratedColumnThatReadsTheTargetIsACycle() throws {
    let world = try JournalWorld(Self.tables, detail: nil)
    let total = FieldBinding(
      BindingSchema(
        target: .init(model: "Node", field: "total"),
        formula: .aggregate(
          .init(
            .sum, model: "Node", field: "g",
            match: [.init(source: "parent", target: "id")]))))
    #expect(
      Self.refusal(total, in: world)
        == "Bindings form a cycle: Node.total → Node.g → Node.total. Remove one of them.")
    #expect(
      Self.refusal(Self.derive("a", "h + 1"), in: world)
        == "Bindings form a cycle: T.a → T.g → T.h → T.a. Remove one of them.")
    #expect(try world.store.bindings() == [])
  }

  @Test func theErrorListsACycleThroughSeveralBindings() throws {
    let world = try JournalWorld(Self.tables, detail: nil)
    try world.store.add(Self.derive("c", "h"))
    #expect(
      Self.refusal(Self.derive("a", "c + 1"), in: world)
        == "Bindings form a cycle: T.c → T.a → T.g → T.h → T.c. Remove one of them.")
    #expect(try world.store.bindings().map(\.name) == ["T.c"])
  }

  @Test func fieldsWithoutACycleFollowThroughGeneratedColumns() throws {
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
    func pair(forward: String, backward: String) -> FieldBinding {
      FieldBinding(
        BindingSchema(
          target: .init(model: "T", field: "c"),
          formula: .twoWay(
            .init(
              left: .init(model: "T", field: "a"), match: [], forward: forward,
              backward: backward, conflict: .leftWins, initially: .left))))
    }
    #expect(
      Self.refusal(pair(forward: "a", backward: "c + g"), in: world)
        == "Bindings form a cycle: T.a → T.g → T.a. Remove one of them.")
    try world.store.add(pair(forward: "g - 1", backward: "c"))
    try world.other.execute("UPDATE T SET a = 7")
    #expect(try world.other.rows("SELECT a, c FROM T") == [[.integer(7), .integer(7)]])
  }

  /// REPLACE evicts by a generated column too, whatever of it an UPDATE sets.
  @Test func recordsEvictedThroughAGeneratedColumnNoLongerCount() throws {
    let world = try JournalWorld(
      """
      CREATE TABLE P (id INTEGER PRIMARY KEY, n INTEGER);
      CREATE TABLE C (
        id INTEGER PRIMARY KEY, p INTEGER, a, b, pair AS (a || '-' || b) UNIQUE
      );
      INSERT INTO P VALUES (1, 0);
      """, detail: nil)
    try world.store.add(
      FieldBinding(
        BindingSchema(
          target: .init(model: "P", field: "n"),
          formula: .aggregate(
            .init(.count, model: "C", match: [.init(source: "p", target: "id")])))))
    try world.other.execute(
      """
      INSERT INTO C (id, p, a, b) VALUES (1, 1, 'x', 'y'), (2, 1, 'p', 'y');
      UPDATE OR REPLACE C SET a = 'x' WHERE id = 2
      """)
    #expect(try world.other.rows("SELECT n FROM P") == [[.integer(1)]])
    #expect(try world.store.bindingFindings() == [])
  }
}
