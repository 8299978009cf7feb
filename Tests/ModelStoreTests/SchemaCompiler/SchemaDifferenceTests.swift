internal import Testing

@testable internal import ModelStore
@testable internal import SchemaCompiler

/// One model, the table that is found, and the expected report about it.
struct DifferenceCase: Sendable, CustomTestStringConvertible {
  let name: String
  let found: String
  let expected: [String]
  var isAdopted = false
  var change: @Sendable (inout ModelSchema) -> Void = { _ in }

  var testDescription: String { name }
}

@Suite(.tags(.unit)) struct SchemaDifferenceTests {
  static let person = ModelSchema(
    name: "Person",
    fields: [
      FieldSchema(name: "id", type: .integer, isRowID: true),
      FieldSchema(name: "name", type: .text),
      FieldSchema(name: "age", type: .integer, isOptional: true),
    ], key: ["id"])

  static let cases: [DifferenceCase] = [
    DifferenceCase(
      name: "missing table", found: "CREATE TABLE x (a)",
      expected: [
        "+ The table Person of the model Person does not exist."
      ]),
    DifferenceCase(
      name: "equal, other case and INT",
      found: "CREATE TABLE PERSON (ID INTEGER PRIMARY KEY, Name TEXT NOT NULL, AGE INT) STRICT",
      expected: []),
    DifferenceCase(
      name: "a view", found: "CREATE VIEW Person AS SELECT 1 AS id",
      expected: [
        "Person is a view, which cannot hold the model Person."
      ]),
    DifferenceCase(
      name: "not strict",
      found: "CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER)",
      expected: [
        """
        The table Person is not STRICT, so another program made it; adopt it, or give the model \
        Person a table of its own.
        """
      ]),
    DifferenceCase(
      name: "missing, addable column",
      found: "CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT",
      expected: ["+ Person.age has no column in the table Person."]),
    DifferenceCase(
      name: "missing columns that cannot be added",
      found: "CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INT) STRICT",
      expected: [
        "- Person.a has no column in the table Person, and only a migration can add it: it is unique.",
        "- Person.b has no column in the table Person, and only a migration can add it: its default is not a constant.",
        "- Person.c has no column in the table Person, and only a migration can add it: it is not optional and has no default for the records that exist.",
        "- Person.d has no column in the table Person, and only a migration can add it: it is not optional and has no default for the records that exist.",
        "- Person.e has no column in the table Person, and only a migration can add it: it is a reference with a default.",
        "- Person.f has no column in the table Person, and only a migration can add it: it is computed by SQLite.",
        "+ Person.g has no column in the table Person.",
        "+ The index _ms_index_Person.e of the model Person does not exist.",
        "+ The index _ms_index_Person.g of the model Person does not exist.",
      ]
    ) {
      let x = ReferenceSchema(table: "X")
      $0.fields += [
        FieldSchema(name: "a", type: .text, isOptional: true, isUnique: true),
        FieldSchema(name: "b", type: .text, defaultSQL: "CURRENT_TIMESTAMP"),
        FieldSchema(name: "c", type: .text),
        FieldSchema(name: "d", type: .text, defaultSQL: "NULL"),
        FieldSchema(name: "e", type: .text, isOptional: true, defaultSQL: "1", reference: x),
        FieldSchema(name: "f", type: .text, isOptional: true, generated: .stored),
        FieldSchema(
          name: "g", type: .text, isOptional: true, reference: x,
          rules: [RuleSchema(name: "g.rule", message: "", condition: "g")]),
      ]
    },
    DifferenceCase(
      name: "missing key",
      found: "CREATE TABLE Person (name TEXT NOT NULL, age INTEGER, id INTEGER) STRICT",
      expected: [
        "The key of Person is (id); the table Person has none.",
        "Person.id is not optional; the column in Person accepts NULL.",
      ]),
    DifferenceCase(
      name: "other key",
      found: """
        CREATE TABLE Person (
          id INTEGER NOT NULL, name TEXT NOT NULL, age INTEGER, PRIMARY KEY (name, id)
        ) STRICT
        """,
      expected: ["The key of Person is (id); the table Person has (name, id)."]),
    DifferenceCase(
      name: "key that is not a rowid",
      found:
        "CREATE TABLE Person (id INT NOT NULL PRIMARY KEY, name TEXT NOT NULL, age INT) STRICT",
      expected: [
        "Person.id is declared as SQLite's row number; the column in Person is not."
      ]),
    DifferenceCase(
      name: "without rowid",
      found: """
        CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INT)
        STRICT, WITHOUT ROWID
        """,
      expected: [
        "The table Person is WITHOUT ROWID; the model Person declares otherwise.",
        "Person.id is declared as SQLite's row number; the column in Person is not.",
      ]),
    DifferenceCase(
      name: "columns unlike",
      found: """
        CREATE TABLE Person (
          id INTEGER PRIMARY KEY, name BLOB COLLATE NOCASE DEFAULT 1, age INTEGER AS (2),
          more TEXT
        ) STRICT
        """,
      expected: [
        "The model declares Person.name as TEXT; the file's column in Person is BLOB.",
        "Person.name is not optional; the column in Person accepts NULL.",
        "Person.name compares as BINARY; the column in Person compares as NOCASE.",
        "Person.name declares no default; the column in Person has the default 1.",
        "The column of Person.age in Person is computed by SQLite, so it cannot be written.",
        "The table Person has a column more that the model Person does not declare.",
      ]),
    DifferenceCase(
      name: "optional here, NOT NULL there; other default",
      found: """
        CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL)
        STRICT
        """,
      expected: [
        "Person.age is optional; the column in Person is NOT NULL.",
        "Person.age declares the default 5; the column in Person has none.",
      ]
    ) { $0.fields[2].defaultSQL = "5" },
    DifferenceCase(
      name: "references",
      found: """
        CREATE TABLE Person (
          id INTEGER PRIMARY KEY, name TEXT NOT NULL REFERENCES y, age INTEGER REFERENCES X (k),
          FOREIGN KEY (name, age) REFERENCES z (a, b)
        ) STRICT;
        CREATE TABLE X (k INTEGER PRIMARY KEY);
        CREATE INDEX "_ms_index_Person.age" ON Person (age);
        CREATE INDEX "_ms_index_Person.id2" ON Person (id);
        """,
      expected: [
        """
        Person.age declares a reference to x, ON DELETE CASCADE, ON UPDATE NO ACTION; the column \
        in Person has a reference to X (k), ON DELETE NO ACTION, ON UPDATE NO ACTION.
        """,
        "The table Person has a foreign key from (name) to y that the model Person does not declare.",
        "The table Person has a foreign key from (name, age) to z that the model Person does not declare.",
      ]
    ) { $0.fields[2].reference = ReferenceSchema(table: "x", onDelete: .cascade) },
    DifferenceCase(
      name: "the referenced key named or not is the same",
      found: """
        CREATE TABLE Person (
          id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER REFERENCES X (k)
        ) STRICT;
        CREATE TABLE X (k INTEGER PRIMARY KEY);
        CREATE INDEX "_ms_index_Person.age" ON Person (age);
        """,
      expected: []
    ) { $0.fields[2].reference = ReferenceSchema(table: "x") },
    DifferenceCase(
      name: "missing reference",
      found: "CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INT) STRICT",
      expected: [
        "Person.age refers to X; the column in Person has no foreign key.",
        "+ The index _ms_index_Person.age of the model Person does not exist.",
      ]
    ) { $0.fields[2].reference = ReferenceSchema(table: "X") },
    DifferenceCase(
      name: "unique sets and indexes",
      found: """
        CREATE TABLE Person (
          id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER, UNIQUE (age, id)
        ) STRICT;
        CREATE UNIQUE INDEX u ON Person (age, name);
        CREATE INDEX "By Name" ON Person (age);
        CREATE UNIQUE INDEX part ON Person (name) WHERE age > 1;
        CREATE INDEX harmless ON Person (name, age, id);
        """,
      expected: [
        "Person declares (name) unique; the table Person does not. Add it in a migration.",
        "The table Person has (age, id) unique; the model Person does not declare it.",
        "The table Person has (name) unique; the model Person does not declare it.",
        "The index by name covers other columns than the model Person declares.",
        "+ The index new of the model Person does not exist.",
        "- The index new unique of the model Person does not exist.",
      ]
    ) {
      $0.fields[1].isUnique = true
      $0.uniques = [["name", "age"]]
      $0.indexes = [
        IndexSchema(name: "by name", fields: ["name"]),
        IndexSchema(name: "new", fields: ["age"]),
        IndexSchema(name: "new unique", fields: ["age"], isUnique: true),
      ]
    },
    DifferenceCase(
      name: "rules",
      found: """
        CREATE TABLE Person (
          id INTEGER PRIMARY KEY, name TEXT NOT NULL CONSTRAINT same CHECK ( "name"  <> '' ),
          age INTEGER CONSTRAINT other CHECK (age > 1), CHECK (age < 9), CONSTRAINT more CHECK (1)
        ) STRICT
        """,
      expected: [
        "The rule other in the table Person has another condition than Person declares.",
        "The table Person has no rule none, which Person declares. Add it in a migration.",
        "The table Person has a rule age < 9 that the model Person does not declare.",
        "The table Person has a rule more that the model Person does not declare.",
      ]
    ) {
      $0.fields[1].rules = [RuleSchema(name: "same", message: "", condition: "\"name\" <> ''")]
      $0.fields[2].rules = [RuleSchema(name: "other", message: "", condition: "age > 2")]
      $0.rules = [RuleSchema(name: "none", message: "", condition: "1")]
    },
    DifferenceCase(
      name: "adopted: another design is left alone",
      found: """
        CREATE TABLE Person (
          id INTEGER PRIMARY KEY, name NVARCHAR(20) NOT NULL UNIQUE REFERENCES y, age NUMERIC(3),
          extra TEXT, needed NOT NULL DEFAULT 1, CHECK (age < 9)
        )
        """,
      expected: [], isAdopted: true),
    DifferenceCase(
      name: "adopted: differences that prevent its use are reported",
      found: "CREATE TABLE Person (id INTEGER PRIMARY KEY, name DATETIME, needed NOT NULL)",
      expected: [
        "The model declares Person.name as TEXT; the file's column in Person is DATETIME.",
        "Person.name is not optional; the column in Person accepts NULL.",
        "- Person.age has no column in the table Person, and only a migration can add it: the table is adopted, and opening never changes it.",
        "The table Person has a column needed that the model Person does not declare.",
      ], isAdopted: true),
    DifferenceCase(
      name: "adopted: the table is gone", found: "CREATE TABLE x (a)",
      expected: ["- The table Person of the model Person does not exist."], isAdopted: true),
    DifferenceCase(
      name: "adopted: a UNIQUE set serves as the key, a CHECK without a name as the rule",
      found: """
        CREATE TABLE Person (
          id INTEGER NOT NULL UNIQUE, name TEXT NOT NULL, age INT, CHECK (age < 9)
        )
        """,
      expected: [], isAdopted: true
    ) {
      $0.fields[0].isRowID = false
      $0.rules = [RuleSchema(name: "Person.check1", message: "", condition: "age < 9")]
    },
    DifferenceCase(
      name: "view", found: "CREATE VIEW Person AS SELECT 1 AS id, 'x' AS NAME",
      expected: [
        "- Person.age has no column in the table Person, and only a migration can add it: Person is a view."
      ]
    ) {
      $0.kind = .view
      $0.key = []
    },
    DifferenceCase(
      name: "a table where a view is declared",
      found: "CREATE TABLE Person (id INTEGER PRIMARY KEY)",
      expected: ["Person is a table, which cannot hold the model Person."]
    ) {
      $0.kind = .view
      $0.key = []
    },
  ]

  @Test(arguments: cases)
  func differencesAreReported(_ example: DifferenceCase) throws {
    var model = Self.person
    model.isAdopted = example.isAdopted
    example.change(&model)
    let file = try SchemaTestFile(example.found)
    let told = SchemaDifference.differences(of: [model], in: try file.catalog()).map {
      "\($0.isAdditive ? "+ " : "- ")\($0.sentence)"
    }
    #expect(
      told == example.expected.map { $0.hasPrefix("+ ") || $0.hasPrefix("- ") ? $0 : "- " + $0 })
  }

  @Test func modelsComeInTheirOwnOrder() throws {
    var second = Self.person
    second.name = "Alien"
    second.table = "Alien"
    let file = try SchemaTestFile()
    #expect(
      SchemaDifference.differences(of: [Self.person, second], in: try file.catalog()) == [
        SchemaDifference(.missingTable, of: Self.person),
        SchemaDifference(.missingTable, of: second),
      ])
  }

  @Test(arguments: [
    ("NVARCHAR(160)", ColumnAffinity.text), ("CHARINT", .integer), ("FLOATING POINT", .integer),
    ("DOUBLE", .real), ("Blob", .blob), ("", .blob), ("DECIMAL(10,2)", .numeric),
    ("BOOLEAN", .numeric), ("DATETIME", .numeric), ("STRING", .numeric), ("ClobReal", .text),
  ])
  func affinityFollowsTheDeclaredType(declared: String, expected: ColumnAffinity) throws {
    #expect(ColumnAffinity(declaredType: declared) == expected)
    // What SQLite makes of the text '1.0' shows the affinity.
    let file = try SchemaTestFile(
      "CREATE TABLE t (a \(declared)); INSERT INTO t VALUES ('1.0'), (2)")
    let shown: [ColumnAffinity: [String]] = [
      .integer: ["'integer'", "'integer'"], .text: ["'text'", "'text'"],
      .blob: ["'text'", "'integer'"], .real: ["'real'", "'real'"],
      .numeric: ["'integer'", "'integer'"],
    ]
    #expect(try file.connect().lines("SELECT typeof(a) FROM t") == shown[expected])
  }
}
