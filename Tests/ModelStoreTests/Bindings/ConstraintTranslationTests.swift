import Testing

@testable import ModelStore

/// Real refusals of SQLite, turned into violations.
@Suite(.tags(.unit)) struct ConstraintTranslationTests {
  private static let tables = """
    CREATE TABLE Album (id INTEGER PRIMARY KEY, title TEXT) STRICT;
    CREATE TABLE Track (
      id INTEGER PRIMARY KEY, title TEXT NOT NULL, milliseconds INTEGER NOT NULL, isLoved INTEGER,
      albumID INTEGER REFERENCES Album,
      CONSTRAINT "Track.title.length" CHECK (length(title) BETWEEN 1 AND 5),
      CONSTRAINT "Track.isLoved.boolean" CHECK (isLoved IN (0, 1)),
      CONSTRAINT "Track.fits" CHECK (milliseconds > length(title)),
      UNIQUE (title, albumID)
    ) STRICT;
    CREATE UNIQUE INDEX lowered ON Track (lower(title));
    CREATE TABLE "a.b, c" (
      "x.y" INTEGER NOT NULL CHECK ("x.y" > 0), "x" INTEGER CHECK (x < 10  OR x = 99), "z, a.b, c.x" TEXT UNIQUE,
      PRIMARY KEY ("x.y", "x"), UNIQUE ("x", "z, a.b, c.x")
    ) WITHOUT ROWID;
    CREATE TRIGGER guard BEFORE DELETE ON "a.b, c" BEGIN SELECT RAISE(ABORT, 'these stay'); END;
    INSERT INTO Album VALUES (1, 'One');
    INSERT INTO Track VALUES (1, 'a', 100, 1, 1);
    INSERT INTO "a.b, c" VALUES (1, 1, 'q');
    """

  private static let models = [
    ModelSchema(
      name: "Odd", table: "a.b, c",
      fields: [
        FieldSchema(
          name: "first", column: "x.y", type: .integer,
          rules: [
            RuleSchema(name: "check 1", message: "must be positive", condition: "\"x.y\" > 0")
          ]),
        FieldSchema(
          name: "second", column: "x", type: .integer,
          rules: [
            RuleSchema(name: "check 2", message: "must be small", condition: "x < 10 OR x = 99")
          ]),
        FieldSchema(
          name: "third", column: "z, a.b, c.x", type: .text, isOptional: true, isUnique: true),
      ], key: ["first", "second"], isWithoutRowID: true, uniques: [["second", "third"]],
      isAdopted: true),
    ModelSchema(
      name: "Album",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(name: "title", type: .text, isOptional: true),
      ], key: ["id"]),
    ModelSchema(
      name: "Track",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(
          name: "title", type: .text,
          rules: [
            RuleSchema(
              name: "Track.title.length", message: "must have 1 to 5 characters",
              condition: "length(\"title\") BETWEEN 1 AND 5")
          ]),
        FieldSchema(name: "milliseconds", type: .integer),
        FieldSchema(name: "isLoved", type: .boolean, isOptional: true),
        FieldSchema(
          name: "albumID", type: .integer, isOptional: true,
          reference: ReferenceSchema(table: "Album")),
      ], key: ["id"], uniques: [["title", "albumID"]],
      indexes: [IndexSchema(name: "lowered", fields: ["title"], isUnique: true)],
      rules: [
        RuleSchema(
          name: "Track.fits", message: "must be longer than its title",
          condition: "milliseconds > length(title)")
      ]),
  ]

  struct Case: Sendable, CustomTestStringConvertible {
    let sql: String
    var model: String?
    let violation: Violation
    let message: String

    var testDescription: String { sql }
  }

  private static let cases = [
    Case(
      sql: "UPDATE Track SET title = 'toolong'", model: "Track",
      violation: Violation(
        kind: .check, model: "Track", key: [.integer(7)], fields: ["title"],
        rule: "Track.title.length",
        message: "must have 1 to 5 characters"),
      message: "Track.title must have 1 to 5 characters. Change the value."),
    Case(
      sql: "UPDATE Track SET isLoved = 2",
      violation: Violation(
        kind: .check, model: "Track", fields: ["isLoved"], rule: "Track.isLoved.boolean",
        message: "must be true or false"),
      message: "Track.isLoved must be true or false. Give it 1 or 0."),
    Case(
      sql: "UPDATE Track SET milliseconds = 0",
      violation: Violation(
        kind: .check, model: "Track", fields: ["title", "milliseconds"], rule: "Track.fits",
        message: "must be longer than its title"),
      message: "Track (title, milliseconds) must be longer than its title. Change the value."),
    Case(
      sql: "UPDATE \"a.b, c\" SET \"x.y\" = 0",
      violation: Violation(
        kind: .check, model: "Odd", fields: ["first"], rule: "check 1", message: "must be positive"),
      message: "Odd.first must be positive. Change the value."),
    Case(
      sql: "UPDATE \"a.b, c\" SET x = 50",
      violation: Violation(
        kind: .check, model: "Odd", fields: ["second"], rule: "check 2", message: "must be small"),
      message: "Odd.second must be small. Change the value."),
    Case(
      sql: "INSERT INTO Track VALUES (1, 'b', 100, NULL, NULL)",
      violation: Violation(
        kind: .unique, model: "Track", fields: ["id"], rule: "Track.key",
        message: "must be unique; another Track has the same value"),
      message:
        "Track.id must be unique; another Track has the same value. Choose another value, or change the other record."
    ),
    Case(
      sql: "INSERT INTO Track VALUES (2, 'a', 100, NULL, 1)",
      violation: Violation(
        kind: .unique, model: "Track", fields: ["title"], rule: "lowered",
        message: "must be unique; another Track has the same value"),
      message:
        "Track.title must be unique; another Track has the same value. Choose another value, or change the other record."
    ),
    Case(
      sql: "INSERT INTO \"a.b, c\" VALUES (1, 1, 'r')",
      violation: Violation(
        kind: .unique, model: "Odd", fields: ["first", "second"], rule: "Odd.key",
        message: "must be unique together; another Odd has the same values"),
      message:
        "Odd (first, second) must be unique together; another Odd has the same values. Choose another value, or change the other record."
    ),
    Case(
      sql: "INSERT INTO \"a.b, c\" VALUES (2, 2, 'q')",
      violation: Violation(
        kind: .unique, model: "Odd", fields: ["third"], rule: "Odd.third.unique",
        message: "must be unique; another Odd has the same value"),
      message:
        "Odd.third must be unique; another Odd has the same value. Choose another value, or change the other record."
    ),
    Case(
      sql: "INSERT INTO Track (title, milliseconds) VALUES (NULL, 100)", model: "Album",
      violation: Violation(
        kind: .required, model: "Track", fields: ["title"], rule: "Track.title.required",
        message: "must have a value"),
      message: "Track.title must have a value. Give it one."),
    Case(
      sql: "INSERT INTO \"a.b, c\" VALUES (NULL, 1, 'r')",
      violation: Violation(
        kind: .required, model: "Odd", fields: ["first"], rule: "Odd.first.required",
        message: "must have a value"),
      message: "Odd.first must have a value. Give it one."),
    Case(
      sql: "UPDATE Track SET albumID = 9", model: "Track",
      violation: Violation(
        kind: .reference, model: "Track", key: [.integer(7)], fields: ["albumID"],
        rule: "Track.albumID.reference", message: "must name an existing Album"),
      message:
        "Track.albumID must name an existing Album. Insert that record first, or name another."),
    Case(
      sql: "DELETE FROM Album", model: "Album",
      violation: Violation(
        kind: .reference, model: "Album", key: [.integer(7)], rule: "Album.reference",
        message: "is still referred to through Track.albumID"),
      message:
        "The Album record is still referred to through Track.albumID. Delete or change those records first."
    ),
    Case(
      sql: "DELETE FROM Album",
      violation: Violation(
        kind: .reference, model: "", rule: "reference",
        message: "refers to a record that does not exist, or another record still refers to it"),
      message:
        "The record refers to a record that does not exist, or another record still refers to it. Insert referenced records first. Change or delete records that refer to a record before you delete it."
    ),
    Case(
      sql: "DELETE FROM \"a.b, c\"", model: "Odd",
      violation: Violation(
        kind: .trigger, model: "Odd", key: [.integer(7)], rule: "guard", message: "these stay"),
      message: "A trigger refused the change: these stay"),
    Case(
      sql: "UPDATE Track SET milliseconds = 'secret'",
      violation: Violation(
        kind: .type, model: "Track", fields: ["milliseconds"], rule: "Track.milliseconds.type",
        message: "must be a whole number (INTEGER), not TEXT"),
      message:
        "Track.milliseconds must be a whole number (INTEGER), not TEXT. Convert the value first."),
    Case(
      sql: "UPDATE Track SET title = x'00'",
      violation: Violation(
        kind: .type, model: "Track", fields: ["title"], rule: "Track.title.type",
        message: "must be text (TEXT), not BLOB"),
      message: "Track.title must be text (TEXT), not BLOB. Convert the value first."),
    Case(
      sql: "INSERT INTO Track (id, title, milliseconds) VALUES ('x', 'b', 9)", model: "Track",
      violation: Violation(
        kind: .type, model: "Track", key: [.integer(7)], fields: ["id"], rule: "Track.id.type",
        message: "must be a whole number (INTEGER), not a value of another type"),
      message:
        "Track.id must be a whole number (INTEGER), not a value of another type. Convert the value first."
    ),
  ]

  @Test(arguments: cases)
  func refusalNamesModelFieldsAndRule(example: Case) throws {
    let fixture = try BindingFixture(Self.tables)
    let failure = try #require(try fixture.failure(of: example.sql))
    let error = ConstraintTranslation(models: Self.models).storeError(
      for: failure,
      in: .init(
        model: example.model, key: example.model == nil ? nil : [.integer(7)], trigger: "guard"))
    #expect(error.code == .rejected)
    var violations = error.violations
    // The message names the remedy too.
    for index in violations.indices {
      #expect(violations[index].remedy.map { error.message.hasSuffix($0) } ?? true)
      violations[index].remedy = nil
    }
    #expect(violations == [example.violation])
    #expect(error.message == example.message)
    #expect(error.model ?? "" == example.violation.model)
    #expect(error.sqliteCode == failure.code.rawValue)
  }

  /// Names that the models do not know: SQLite's own words remain.
  @Test(arguments: [
    (
      "UPDATE Track SET title = 'toolong'",
      "The record must meet the rule Track.title.length. Change the record."
    ),
    (
      "INSERT INTO Track VALUES (1, 'b', 100, NULL, NULL)",
      "The record must be unique in Track.id. Choose another value."
    ),
    ("UPDATE Track SET title = NULL", "The record must have a value in Track.title. Give it one."),
  ])
  func theRefusalOfAnUnknownTableKeepsSQLitesMessage(sql: String, message: String) throws {
    let fixture = try BindingFixture(Self.tables)
    let failure = try #require(try fixture.failure(of: sql))
    let error = ConstraintTranslation(models: []).storeError(for: failure)
    #expect(error.code == .rejected)
    #expect(error.message == message)
    #expect(error.violations.count == 1)
  }

  @Test func refusalByABindingNamesTheBinding() throws {
    let world = BindingWorld.defaulted
    let fixture = try BindingFixture(world.setUp)
    try fixture.install([world.binding], in: world.models)
    try fixture.connection.execute(
      """
      CREATE TRIGGER swallow BEFORE UPDATE OF artistName ON Album WHEN NEW.artistName = 'Ada'
      BEGIN SELECT RAISE(IGNORE); END
      """)
    let failure = try #require(
      try fixture.failure(of: "UPDATE Artist SET name = 'Ada' WHERE id = 1"))
    let error = ConstraintTranslation(models: world.models).storeError(
      for: failure, in: .init(model: "Artist", key: [.integer(1)], trigger: nil))
    let message =
      "The binding Album.artistName cannot be kept: Album.artistName does not take the value."
    #expect(
      error.violations == [
        Violation(
          kind: .trigger, model: "Album", fields: ["artistName"], rule: "Album.artistName",
          message: message)
      ])
    #expect(error.message == "A trigger refused the change: \(message)")
  }

  @Test func otherFailuresAreNotViolations() throws {
    let fixture = try BindingFixture(Self.tables)
    let failure = try #require(try fixture.failure(of: "SELECT nosuch FROM Track"))
    let error = ConstraintTranslation(models: Self.models).storeError(for: failure)
    #expect(error.code == .invalidQuery)
    #expect(error.violations == [])
  }
}
