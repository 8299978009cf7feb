import Testing

@testable import ModelStore

/// The number inside a text, as DSSimpleKVO's `sync` switched off.
@Suite(.tags(.unit)) struct NumberInTextTests {
  private static let model = ModelSchema(
    name: "T",
    fields: [
      FieldSchema(name: "id", type: .integer, isRowID: true),
      FieldSchema(name: "value", type: .text, isOptional: true),
      FieldSchema(name: "whole", type: .text, isOptional: true),
      FieldSchema(name: "number", type: .text, isOptional: true),
      FieldSchema(name: "third", type: .text, isOptional: true),
    ], key: ["id"])

  private static func bindings() -> [BindingSchema] {
    func target(_ field: String) -> BindingSchema.Field { .init(model: "T", field: field) }
    return [
      BindingSchema(target: target("whole"), formula: .derive(sql: "value")),
      BindingSchema(target: target("number"), formula: .derive(sql: "value"), mode: .numberInText),
      BindingSchema(target: target("third"), formula: .derive(sql: "whole"), mode: .numberInText),
    ]
  }

  private func fixture() throws -> BindingFixture {
    let fixture = try BindingFixture(
      "CREATE TABLE T (id INTEGER PRIMARY KEY, value TEXT, whole TEXT, number TEXT, third TEXT)")
    try fixture.install(Self.bindings(), in: [Self.model])
    return fixture
  }

  /// What a text becomes, by the trigger and by Swift.
  private static let cases: [(text: String?, value: String?, result: String?)] = [
    ("about 12 pieces", "15", "about 15 pieces"), ("12", "15", "15"), ("a1b2c", "7", "a7c"),
    ("1 of 1", "9", "9"), ("t 5", "-3", "t -3"), ("t 5", "1.5", "t 1.5"), ("t 5", "1e5", "t 1e5"),
    ("t 5", " 8 ", "t 8 "), ("t 5", "+8", "t +8"), ("t 5", ".5", "t .5"), ("t 5", "5.", "t 5."),
    ("t 5", "", ""), ("t 5", "-", "-"), ("t 5", "1.2.3", "1.2.3"), ("t 5", "abc", "abc"),
    ("t 5", "5 apples", "5 apples"), ("t 5", "1e", "1e"), ("t 5", "e5", "e5"),
    ("t 5", "0x10", "0x10"), ("t 5", nil, "t 5"), ("no digit", "8", "no digit"), ("", "8", ""),
    (nil, "8", nil), (nil, "word", "word"), ("ü 3 ü", "4", "ü 4 ü"), ("15 pcs", "5", "5 pcs"),
    ("t -3", "4", "t 4"), ("-6 kg", "-7", "-7 kg"), ("-7 kg", "7", "7 kg"), ("+1", "-.5", "-.5"),
    (".5 kg", "5", "5 kg"), ("5 kg", ".5", ".5 kg"), ("a\t-1", "2", "a\t2"),
    ("No.5", "7", "No.7"), ("No.5", "5", "No.5"), ("t-3", "4", "t-4"), ("t-3", "-4", "t-4"),
    ("t 5. x", "6.", "t 6. x"), ("t 5. x", "6", "t 6. x"), ("...5", "6", "...6"),
    ("t-5", " 8", "t- 8"), ("t -5", "\n-8\t", "t\n-8\t"), ("t  5", " 8", "t  8"),
    ("t 5. x", "6. ", "t 6. x"),
    ("t 5", " - ", " - "), ("5", " 4 ", " 4 "), ("t 5 x", " 4 ", "t 4 x"), (nil, nil, nil),
    ("5kg", " 4 ", " 4 kg"), ("+5", " 4", " 4"), ("no digit", nil, "no digit"),
  ]

  @Test("DS2 DS3 the whole target is replaced, or only the number in it")
  func modes() throws {
    let fixture = try fixture()
    try fixture.connection.execute(
      "INSERT INTO T (id, value, number, third) VALUES (1, '3', 'has 1 apple', '1 pear')")
    #expect(
      try fixture.rows("SELECT whole, number, third FROM T") == ["'3'|'has 3 apple'|'3 pear'"])
    try fixture.connection.execute("UPDATE T SET value = '40'")
    #expect(
      try fixture.rows("SELECT whole, number, third FROM T") == ["'40'|'has 40 apple'|'40 pear'"])
  }

  @Test("DS4 DS5 DS6 the text from the first to the last digit is replaced, or the whole text")
  func rules() throws {
    for (text, value, result) in Self.cases {
      let fixture = try fixture()
      func literal(_ text: String?) -> String { text.map(SQLText.literal) ?? "NULL" }
      try fixture.connection.execute(
        """
        INSERT INTO T (id, value, number) VALUES (1, \(literal(value)), \(literal(text)));
        UPDATE T SET value = value;
        """)
      #expect(
        try fixture.rows("SELECT number FROM T") == [literal(result)],
        "\(text ?? "nil") with \(value ?? "nil")")
      let findings = try CompiledBindings(Self.bindings(), in: [Self.model])
        .findings(on: fixture.connection, maxKeyCount: 5)
      #expect(findings == [])
    }
  }

  @Test("DS11 one text is computed alike in Swift")
  func standalone() {
    for (text, value, result) in Self.cases {
      guard let text, let value else { continue }
      #expect(text.replacingNumber(with: value) == result, "\(text) with \(value)")
    }
  }

  @Test("signs and points of earlier numbers do not accumulate")
  func signs() throws {
    let fixture = try fixture()
    try fixture.connection.execute("INSERT INTO T (id, value, number) VALUES (1, '5', '5 kg')")
    for value in ["-6", "-7", "+8", ".5", "5", "-.5", "3", "-3"] {
      try fixture.connection.execute("UPDATE T SET value = '\(value)'")
      #expect(try fixture.rows("SELECT number FROM T") == ["'\(value) kg'"])
    }
    // The other program writes the text; the number in it follows at once, sign and all.
    try fixture.connection.execute("UPDATE T SET number = '3 kg'")
    #expect(try fixture.rows("SELECT number FROM T") == ["'-3 kg'"])
  }

  @Test("a template may precede the first number and remains when the number is removed")
  func templateFirst() throws {
    let fixture = try fixture()
    try fixture.connection.execute(
      "INSERT INTO T (id, value, number) VALUES (1, NULL, 'has 0 apples')")
    var seen: [String] = []
    for value in ["'3'", "NULL", "'4'"] {
      try fixture.connection.execute("UPDATE T SET value = \(value)")
      seen += try fixture.rows("SELECT number FROM T")
    }
    try fixture.connection.execute(
      "UPDATE T SET value = NULL; UPDATE T SET number = '0 pears'; UPDATE T SET value = '5'")
    seen += try fixture.rows("SELECT number FROM T")
    #expect(seen == ["'has 3 apples'", "'has 3 apples'", "'has 4 apples'", "'5 pears'"])
  }

  @Test("spaces around earlier numbers do not accumulate")
  func blanks() throws {
    let fixture = try fixture()
    try fixture.connection.execute("INSERT INTO T (id, value, number) VALUES (1, '5', '5 kg')")
    let steps = [
      (" 6", " 6 kg"), ("7", " 7 kg"), (" 6 ", " 6 kg"), (" 6\t", " 6\tkg"), ("\n-6 ", "\n-6 kg"),
      (" 6", " 6 kg"), ("  6", "  6 kg"), ("6", "  6 kg"),
    ]
    for (value, text) in steps {
      try fixture.connection.execute("UPDATE T SET value = '\(value)'")
      #expect(try fixture.rows("SELECT number FROM T") == ["'\(text)'"])
    }
  }

  @Test("a unique text accepts only a number that keeps it distinct")
  func unique() throws {
    let model = ModelSchema(
      name: "U",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(name: "n", type: .text, isOptional: true),
        FieldSchema(name: "u", type: .text, isOptional: true, isUnique: true),
      ], key: ["id"])
    let binding = BindingSchema(
      target: .init(model: "U", field: "u"), formula: .derive(sql: "n"), mode: .numberInText)
    let fixture = try BindingFixture(
      """
      CREATE TABLE U (id INTEGER PRIMARY KEY, n TEXT, u TEXT UNIQUE);
      INSERT INTO U VALUES (1, '5', 'a 5'), (2, '7', 'b 7'), (3, '1', 'a 1');
      """)
    try fixture.install([binding], in: [model])
    try fixture.connection.execute("UPDATE U SET n = '7' WHERE id = 1")
    #expect(try fixture.rows("SELECT u FROM U ORDER BY id") == ["'a 7'", "'b 7'", "'a 1'"])
    #expect(
      try fixture.failure(of: "UPDATE OR REPLACE U SET n = '7' WHERE id = 3")?.message
        == "The binding U.u cannot be kept: U.u does not take the value.")
    #expect(try fixture.rows("SELECT u FROM U ORDER BY id") == ["'a 7'", "'b 7'", "'a 1'"])
  }

  @Test("DS4 the text around the number can be edited, the number cannot")
  func freeText() throws {
    let fixture = try fixture()
    try fixture.connection.execute(
      "INSERT INTO T (id, value, number) VALUES (1, '3', 'x 3'); UPDATE T SET number = 'y 99 z'")
    #expect(try fixture.rows("SELECT number FROM T") == ["'y 3 z'"])
  }

  @Test("DS12 each binding has its own mode, also with several bindings of one source")
  func modesOfOneSource() throws {
    let fixture = try fixture()
    try fixture.connection.execute(
      """
      INSERT INTO T (id, value, number, third) VALUES (1, '1', '1 a', '1 b'), (2, '2', '2 c', NULL);
      UPDATE T SET value = 'word' WHERE id = 1;
      UPDATE T SET value = '7' WHERE id = 2;
      """)
    #expect(
      try fixture.rows("SELECT whole, number, third FROM T") == [
        "'word'|'word'|'word'", "'7'|'7 c'|NULL",
      ])
  }

  @Test(.enabled(if: Shell.isInstalled, Shell.reason))
  func holdsForTheShell() throws {
    let fixture = try fixture()
    let result = try fixture.shell(
      """
      INSERT INTO T (id, value, number) VALUES (1, '3', 'has 1 apple');
      UPDATE T SET value = '-12.5';
      SELECT number FROM T;
      """)
    #expect(result == .init(output: ["has -12.5 apple"], errors: []))
  }
}
