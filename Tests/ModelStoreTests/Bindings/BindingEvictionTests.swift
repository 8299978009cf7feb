import Testing

@testable import ModelStore

/// Bindings where REPLACE evicts records that seem to differ from the new one: through a unique
/// index with another collation than its columns, and through a default instead of NULL.
@Suite(.tags(.unit)) struct BindingEvictionTests {
  private static func field(
    _ name: String, _ type: FieldType = .text, isUnique: Bool = false
  ) -> FieldSchema {
    FieldSchema(
      name: name, type: type, isOptional: name != "id", isUnique: isUnique, isRowID: name == "id")
  }

  private static let models = [
    ModelSchema(
      name: "P",
      fields: [
        field("id", .integer), field("code", isUnique: true), field("n", .integer), field("name"),
      ], key: ["id"]),
    ModelSchema(
      name: "C",
      fields: [
        field("id", .integer), field("pcode"), field("v", .integer), field("name"),
        field("slug", isUnique: true),
      ], key: ["id"]),
  ]

  private static let tables = """
    CREATE TABLE P (id INTEGER PRIMARY KEY, code TEXT UNIQUE, n INTEGER, name TEXT);
    CREATE TABLE C (
      id INTEGER PRIMARY KEY, pcode TEXT, v INTEGER, name TEXT, slug TEXT UNIQUE);
    INSERT INTO P (id, code, name) VALUES (1, 'a', 'Ann'), (2, 'b', 'Ben');
    INSERT INTO C (id, pcode, v, name, slug) VALUES
      (1, 'a', 3, 'one', 'one'), (2, 'b', 4, 'two', 'two');
    """

  struct Case: Sendable, CustomStringConvertible {
    let description: String
    /// The columns of the unique index.
    let index: String
    let binding: BindingSchema
    let script: String
    let question: String
    let answer: String
  }

  private static func aggregate(
    _ function: BindingSchema.Aggregate.Function, of field: String?, into target: String
  ) -> BindingSchema {
    BindingSchema(
      target: .init(model: "P", field: target),
      formula: .aggregate(
        .init(
          function, model: "C", field: field, match: [.init(source: "pcode", target: "code")])))
  }

  private static let copy = BindingSchema(
    target: .init(model: "C", field: "name"),
    formula: .lookup(
      .init(
        source: .init(model: "P", field: "name"),
        match: [.init(source: "code", target: "pcode")])))

  private static let derived = BindingSchema(
    target: .init(model: "C", field: "slug"), formula: .derive(sql: "name"))

  static let cases = [
    Case(
      description: "a sum, by insertion", index: "C (slug COLLATE NOCASE)",
      binding: aggregate(.sum, of: "v", into: "n"),
      script: "REPLACE INTO C (id, pcode, v, slug) VALUES (9, 'a', 5, 'ONE')",
      question: "SELECT n FROM P ORDER BY id", answer: "5 4"),
    Case(
      description: "a count, by update", index: "C (slug COLLATE NOCASE)",
      binding: aggregate(.count, of: nil, into: "n"),
      script: "UPDATE OR REPLACE C SET slug = 'ONE', pcode = 'a' WHERE id = 2",
      question: "SELECT n FROM P ORDER BY id", answer: "1 0"),
    Case(
      description: "a minimum", index: "C (slug COLLATE NOCASE)",
      binding: aggregate(.minimum, of: "v", into: "n"),
      script: "REPLACE INTO C (id, pcode, v, slug) VALUES (9, 'b', 5, 'ONE')",
      question: "SELECT n FROM P ORDER BY id", answer: "NULL 4"),
    Case(
      description: "a joined text", index: "C (slug COLLATE RTRIM)",
      binding: aggregate(.joined, of: "slug", into: "name"),
      script: "REPLACE INTO C (id, pcode, v, slug) VALUES (9, 'b', 5, 'one  ')",
      question: "SELECT name FROM P WHERE id = 1", answer: "NULL"),
    Case(
      description: "a copy, by what finds its source", index: "P (code COLLATE NOCASE)",
      binding: copy, script: "REPLACE INTO P (id, code, name) VALUES (9, 'A', 'Zoe')",
      question: "SELECT name FROM C ORDER BY id", answer: "NULL 'Ben'"),
    Case(
      description: "a copy, by update", index: "P (code COLLATE RTRIM)",
      binding: copy, script: "UPDATE OR REPLACE P SET code = 'a ' WHERE id = 2",
      question: "SELECT name FROM C ORDER BY id", answer: "NULL NULL"),
    Case(
      description: "a value for a unique field, which deletes no record",
      index: "C (slug COLLATE NOCASE)", binding: derived,
      script: "UPDATE OR REPLACE C SET name = 'ONE' WHERE id = 2",
      question: "SELECT id || slug FROM C ORDER BY id", answer: "'1one' '2two'"),
  ]

  @Test(
    "evictions due to the collation of an index alone are detected",
    .enabled(if: Shell.isInstalled, Shell.reason), arguments: cases)
  func evictionsAreNoticed(by example: Case) throws {
    let tables = Self.tables + "CREATE UNIQUE INDEX own ON \(example.index);"
    #expect(
      try answers(
        example.question, after: example.script, tables, Self.models, example.binding)
        == [example.answer, example.answer])
  }

  @Test(
    "evictions due to a default that REPLACE stores instead of NULL are detected",
    .enabled(if: Shell.isInstalled, Shell.reason),
    arguments: zip(
      [
        "REPLACE INTO C (id, pcode, v, slug) VALUES (9, 'a', 5, NULL)",
        "UPDATE OR REPLACE C SET slug = NULL WHERE id = 2",
      ], ["5 4", "0 4"]))
  func evictionsByDefaultsAreNoticed(script: String, answer: String) throws {
    var models = Self.models
    models[1].fields[4].isOptional = false
    models[1].fields[4].defaultSQL = "'one'"
    let tables = Self.tables.replacing(
      "slug TEXT UNIQUE", with: "slug TEXT NOT NULL DEFAULT 'one' UNIQUE")
    #expect(
      try answers(
        "SELECT n FROM P ORDER BY id", after: script, tables, models,
        Self.aggregate(.sum, of: "v", into: "n")) == [answer, answer])
  }

  /// What `question` finds when the library, then the shell ran `script`, each on a file of its
  /// own.
  private func answers(
    _ question: String, after script: String, _ tables: String, _ models: [ModelSchema],
    _ binding: BindingSchema
  ) throws -> [String] {
    try BindingWriter.allCases.map { writer in
      let fixture = try BindingFixture(tables)
      let installation = try CompiledBindings([binding], in: models, on: fixture.connection)
      try fixture.connection.execute("BEGIN IMMEDIATE")
      try Reconciler(fixture.connection).reconcile(installation)
      try fixture.connection.execute("COMMIT")
      switch writer {
      case .library: _ = try fixture.failure(of: script)
      case .shell: _ = try fixture.shell(script + ";")
      }
      let findings = try installation.findings(on: fixture.connection, maxKeyCount: 3)
      #expect(findings == [], "\(writer)")
      return try fixture.rows(question).joined(separator: " ")
    }
  }

  @Test("indexes with the collation of their columns, or a finer one, change no trigger")
  func otherIndexesChangeNothing() throws {
    let zoo = BindingZoo()
    let fixture = try BindingFixture(
      zoo.tables + """
        CREATE UNIQUE INDEX finer ON Parent (code COLLATE BINARY);
        CREATE UNIQUE INDEX undeclared ON Child (code COLLATE RTRIM, id);
        CREATE UNIQUE INDEX part ON Child (tag COLLATE NOCASE) WHERE value > 3;
        CREATE UNIQUE INDEX expression ON Child (lower(tag) COLLATE NOCASE);
        """)
    #expect(
      try CompiledBindings(BindingZoo.bindings, in: zoo.models, on: fixture.connection).bindings
        == CompiledBindings(BindingZoo.bindings, in: zoo.models).bindings)
  }
}
