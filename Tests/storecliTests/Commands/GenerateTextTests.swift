import Foundation
import ModelStore
import RecordFormats
import Testing

/// JSON Schema, SQL and diagrams of models.
@Suite(.tags(.process)) struct GenerateTextTests {
  private func place(_ models: [ModelSchema], _ bindings: [FieldBinding] = []) throws -> Workplace {
    let place = try Workplace()
    let file = place.path("models.store")
    place.environment["STORECLI_DB"] = file
    try Store(
      at: file, declaring: Declarations(models: models, bindings: bindings),
      configuration: StoreConfiguration(), onError: { _ in }
    ).close()
    return place
  }

  private static let hostile = [
    ModelSchema(
      name: "Ho\"st%;<b>\\n#",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(name: "a\"b<i>&\\N", type: .text, isOptional: true),
        FieldSchema(name: "\u{202E}x", type: .integer, defaultSQL: "0"),
        FieldSchema(
          name: "other", type: .integer, isOptional: true, isUnique: true,
          reference: ReferenceSchema(table: "Ho\"st%;<b>\\n#", onDelete: .setNull)),
      ], key: ["id"])
  ]

  private static let hostileBinding = FieldBinding(
    BindingSchema(
      target: .init(model: "Ho\"st%;<b>\\n#", field: "\u{202E}x"),
      formula: .derive(sql: "length(other) > '\"'")))

  // JSON Schema

  @Test("a schema has types, formats, rules and what is required")
  func jsonSchema() throws {
    func rule(_ field: String, _ rule: FieldRule) -> RuleSchema {
      rule.schema(model: "M", field: field, column: field)
    }
    let place = try place([
      ModelSchema(
        name: "M",
        fields: [
          FieldSchema(name: "id", type: .integer, isRowID: true),
          FieldSchema(
            name: "code", type: .text, isUnique: true,
            rules: [rule("code", .length(1...8)), rule("code", .matches(glob: "[A-Z]*.?"))]),
          FieldSchema(
            name: "size", type: .text, isOptional: true, rules: [rule("size", .oneOf("S", "L"))]),
          FieldSchema(
            name: "count", type: .integer, defaultSQL: "1", rules: [rule("count", .range(0...9))]),
          FieldSchema(name: "price", type: .decimal), FieldSchema(name: "at", type: .date),
          FieldSchema(name: "picture", type: .blob, isOptional: true),
          FieldSchema(name: "ok", type: .boolean, defaultSQL: "0"),
          FieldSchema(name: "tag", type: .uuid), FieldSchema(name: "extra", type: .json),
        ], key: ["id"])
    ])
    #expect(
      try place.run("generate", "json-schema", "M").out == """
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "M",
          "type": "object",
          "properties": {
            "id": {
              "type": "integer"
            },
            "code": {
              "type": "string",
              "minLength": 1,
              "maxLength": 8,
              "pattern": "^[A-Z][\\\\s\\\\S]*\\\\.[\\\\s\\\\S]$",
              "description": "must have 1 to 8 characters; must look like [A-Z]*.?; must be unique"
            },
            "size": {
              "type": ["string","null"],
              "enum": ["S","L",null],
              "description": "must be one of: S, L"
            },
            "count": {
              "type": "integer",
              "minimum": 0,
              "maximum": 9,
              "default": 1,
              "description": "must be 0 to 9"
            },
            "price": {
              "type": "string",
              "pattern": "^-?[0-9]+(\\\\.[0-9]+)?$"
            },
            "at": {
              "type": "string",
              "format": "date-time"
            },
            "picture": {
              "type": ["object","null"],
              "properties": {
                "$base64": {
                  "type": "string",
                  "contentEncoding": "base64"
                }
              },
              "required": ["$base64"],
              "additionalProperties": false
            },
            "ok": {
              "type": "boolean",
              "default": false
            },
            "tag": {
              "type": "string",
              "format": "uuid"
            },
            "extra": {
              "type": "string",
              "contentMediaType": "application/json"
            }
          },
          "required": ["code","price","at","tag","extra"],
          "additionalProperties": false,
          "description": "The key is id."
        }

        """)
  }

  @Test("several models are definitions of one schema, in the order of their names")
  func definitions() throws {
    let place = try Workplace()
    try place.makeMusic()
    let text = try place.run("generate", "json-schema").out
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("    \"") }
    #expect(lines == ["    \"Album\": {", "    \"Artist\": {", "    \"Track\": {"])
  }

  // SQL

  @Test("the statements make a file with an equal schema")
  func sql() throws {
    let music = try Workplace()
    try music.makeMusic()
    let trade = try Workplace()
    try RawDatabase(trade.path("music.store")).execute(ForeignSchemas.trade)
    trade.environment["STORECLI_DB"] = trade.path("music.store")
    try #require(try trade.run("adopt").code == 0)
    for place in [music, trade] {
      let sql = try place.run("generate", "sql").out
      try RawDatabase(place.path("made.sqlite")).execute(sql)
      let store = try Store(at: place.path("music.store"))
      let made = try Store(at: place.path("made.sqlite"))
      #expect(try made.schemaDifferences(from: store) == [])
      #expect(!sql.contains("_ms_binding") && !sql.contains("sqlite_"))
    }
    let one = try music.run("generate", "sql", "Track").out
    #expect(one.hasPrefix("CREATE TABLE \"Track\" (\n"))
    #expect(one.contains("CREATE INDEX \"_ms_index_Track.albumID\""))
    #expect(!one.contains("CREATE TABLE \"Album\""))
  }

  @Test("triggers keep their order, and comments end before the semicolon")
  func scripts() throws {
    let place = try Workplace()
    place.environment["STORECLI_DB"] = place.path("shop.store")
    try RawDatabase(place.path("shop.store")).execute(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE log (word TEXT);
      CREATE TABLE item (id INTEGER PRIMARY KEY);
      CREATE TRIGGER z_first AFTER INSERT ON item BEGIN INSERT INTO log VALUES ('z'); END;
      CREATE TRIGGER a_second AFTER INSERT ON item BEGIN INSERT INTO log VALUES ('a'); END;
      CREATE VIEW words AS SELECT word FROM log -- all
      ;
      CREATE VIEW count AS SELECT count(*) AS number FROM log;
      """)
    let sql = try place.run("generate", "sql")
    #expect(sql.code == 0, "\(sql)")
    #expect(sql.out == (try place.run("migrate", "schema").out))
    try RawDatabase(place.path("made.sqlite")).execute(sql.out)
    let orders = try ["shop.store", "made.sqlite"].map { name in
      let raw = try RawDatabase(place.path(name))
      try raw.execute("INSERT INTO item VALUES (1)")
      return try raw.value(
        "SELECT group_concat(word, ',') || (SELECT number FROM count) FROM words")
    }
    #expect(orders == ["a,z2", "a,z2"])
  }

  // Diagrams

  @Test("a diagram has fields, references and bindings, and escapes every name")
  func mermaid() throws {
    let place = try place(Self.hostile, [Self.hostileBinding])
    #expect(
      try place.run("generate", "mermaid").out == """
        erDiagram
          m0["Ho#quot;st#37;#59;#lt;b#gt;#92;n#35;"] {
            integer id PK
            text a_b_i___N "a#quot;b#lt;i#gt;#amp;#92;N#59; optional"
            integer f_x " x"
            integer other FK, UK "optional"
          }
          m0 |o--o| m0 : "other, delete set null"
          m0 ||..|| m0 : "Ho#quot;st#37;#59;#lt;b#gt;#92;n#35;. x = length(other) #gt; '#quot;'"

        """)
  }

  @Test func namesOfMarksAreNotNamesOfAttributesInMermaid() throws {
    let place = try Workplace()
    try RawDatabase(place.path("m.db")).execute("CREATE TABLE t (pk INTEGER PRIMARY KEY, Fk TEXT)")
    place.environment["STORECLI_DB"] = place.path("m.db")
    try #require(try place.run("adopt").code == 0)
    #expect(
      try place.run("generate", "mermaid").out == """
        erDiagram
          m0["t"] {
            integer fpk PK "pk"
            text fFk "Fk#59; optional"
          }

        """)
    #expect(try place.run("generate", "sql", "-o", "json").code == 64)
  }

  @Test("a graph for Graphviz escapes names in markup and in labels")
  func dot() throws {
    let place = try place(Self.hostile, [Self.hostileBinding])
    let name = "Ho&quot;st%;&lt;b&gt;\\n#"
    #expect(
      try place.run("generate", "dot").out == """
        digraph models {
          rankdir=LR;
          node [shape=plain, fontname="Helvetica"];
          edge [fontname="Helvetica", fontsize=10];
          m0 [label=<<table border="0" cellborder="1" cellspacing="0"><tr><td colspan="2" bgcolor="lightgrey"><b>\(name)</b></td></tr><tr><td align="left">id</td><td align="left" port="f0">integer PK</td></tr><tr><td align="left">a&quot;b&lt;i&gt;&amp;\\N</td><td align="left" port="f1">text?</td></tr><tr><td align="left"> x</td><td align="left" port="f2">integer</td></tr><tr><td align="left">other</td><td align="left" port="f3">integer? FK UK</td></tr></table>>];
          m0:f3:e -> m0 [label="other, delete set null"];
          m0 -> m0 [label="Ho\\"st%;<b>\\\\n#. x = length(other) > '\\"'", style=dashed, color=blue, fontcolor=blue, constraint=false];
        }

        """)
  }
}
