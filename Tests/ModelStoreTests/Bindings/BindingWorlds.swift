@testable import ModelStore

/// One shape of source and target, with a copy bound between them, and an oracle that was written
/// apart from the triggers: a join instead of subqueries.
struct BindingWorld: Sendable, CustomStringConvertible {
  let name: String
  /// Placeholders of paths: `$S` source table, `$k` key, `$c` copied, `$u` unique; `$T` target
  /// table, `$i` key, `$r` reference, `$f` bound, `$o` other.
  let names: [Character: String]
  /// A key as a literal, for `#1`.
  let key: @Sendable (Int) -> String
  let tables: String
  let models: [ModelSchema]
  let binding: BindingSchema
  /// Counts the targets that are wrong.
  let oracle: String
  /// The paths that each writer is refused, by name.
  let refusals: [BindingWriter: Set<String>]

  var description: String { name }

  func sql(_ template: String) -> String {
    var text = ""
    var rest = template[...]
    while let scalar = rest.popFirst() {
      if scalar == "$", let name = rest.popFirst() {
        text += SQLText.quoted(names[name] ?? "unknown placeholder \(name)")
      } else if scalar == "#", let digit = rest.popFirst() {
        text += digit.wholeNumberValue.map(key) ?? "unknown key"
      } else {
        text.append(scalar)
      }
    }
    return text
  }

  var setUp: String {
    tables
      + sql(
        """
        ;
        INSERT INTO $S ($k, $c, $u) VALUES (#1, 'Ann', 'a'), (#2, 'Bob', 'b'), (#3, 'Cid', 'c');
        INSERT INTO $T ($i, $r, $f, $o) VALUES (#1, #1, 'Ann', 'x'), (#2, #1, 'Ann', 'y'), (#3, #2, 'Bob', 'z'), (#4, #3, 'Cid', 'w');
        """)
  }

  struct Path: Sendable {
    let name: String
    let sql: String

    init(_ name: String, _ sql: String) {
      self.name = name
      self.sql = sql
    }
  }

  static let paths = [
    Path("insert target", "INSERT INTO $T ($i, $r, $f, $o) VALUES (#8, #2, 'junk', 'n')"),
    Path(
      "insert targets by select",
      "INSERT INTO $T ($i, $r, $f, $o) SELECT #8, #1, 'junk', $o FROM $T WHERE $i = #3"),
    Path(
      "insert target without reference",
      "INSERT INTO $T ($i, $r, $f, $o) VALUES (#8, NULL, 'junk', 'n')"),
    Path("insert dangling target", "INSERT INTO $T ($i, $r, $f, $o) VALUES (#8, #7, 'junk', 'n')"),
    Path(
      "insert or ignore target",
      "INSERT OR IGNORE INTO $T ($i, $r, $f, $o) VALUES (#8, #3, 'junk', 'n'), (#1, #2, 'junk', 'n')"
    ),
    Path("replace target", "REPLACE INTO $T ($i, $r, $f, $o) VALUES (#1, #2, 'junk', 'n')"),
    Path(
      "upsert target's reference",
      "INSERT INTO $T ($i, $r, $f, $o) VALUES (#1, #2, 'junk', 'n') ON CONFLICT DO UPDATE SET $r = excluded.$r"
    ),
    Path(
      "upsert target's bound field",
      "INSERT INTO $T ($i, $r, $f, $o) VALUES (#1, #2, 'junk', 'n') ON CONFLICT DO UPDATE SET $f = 'worse'"
    ),
    Path("update source", "UPDATE $S SET $c = 'Ada' WHERE $k = #1"),
    Path("update source in case only", "UPDATE $S SET $c = 'ANN' WHERE $k = #1"),
    Path("update source to the same", "UPDATE $S SET $c = $c"),
    Path("update every source", "UPDATE $S SET $c = $c || '!', $u = $u || '!'"),
    Path(
      "update source from a join",
      "UPDATE $S SET $c = t.$o FROM $T AS t WHERE t.$r = $S.$k AND t.$i IN (#1, #3)"),
    Path("update or ignore source", "UPDATE OR IGNORE $S SET $c = 'Ada' WHERE $k = #1"),
    Path(
      "upsert source",
      "INSERT INTO $S ($k, $c, $u) VALUES (#1, 'Ada', 'q') ON CONFLICT DO UPDATE SET $c = excluded.$c"
    ),
    Path("replace source in place", "REPLACE INTO $S ($k, $c, $u) VALUES (#2, 'Ben', 'b')"),
    Path(
      "replace source, evicting another", "REPLACE INTO $S ($k, $c, $u) VALUES (#6, 'Ben', 'b')"),
    Path(
      "update or replace source, evicting another",
      "UPDATE OR REPLACE $S SET $u = 'b' WHERE $k = #3"),
    Path(
      "update or replace source's key, evicting", "UPDATE OR REPLACE $S SET $k = #2 WHERE $k = #3"),
    Path("rekey source", "UPDATE $S SET $k = #6 WHERE $k = #1"),
    Path("rekey source and change it", "UPDATE $S SET $k = #6, $c = 'Ada' WHERE $k = #1"),
    Path(
      "rotate keys",
      "UPDATE $S SET $k = #6 WHERE $k = #1; UPDATE $S SET $k = #1 WHERE $k = #2; UPDATE $S SET $k = #2 WHERE $k = #6"
    ),
    Path(
      "rekey source onto a dangling key",
      "UPDATE $T SET $r = #7 WHERE $i = #4; UPDATE $S SET $k = #7 WHERE $k = #2"),
    Path(
      "insert source for dangling targets",
      "UPDATE $T SET $r = #7 WHERE $i = #4; INSERT INTO $S ($k, $c, $u) VALUES (#7, 'Gil', 'g')"),
    Path("delete source", "DELETE FROM $S WHERE $k = #1"),
    Path("delete every source", "DELETE FROM $S"),
    Path(
      "delete source and insert it again",
      "DELETE FROM $S WHERE $k = #2; INSERT INTO $S ($k, $c, $u) VALUES (#2, 'Ben', 'b')"),
    Path("delete target", "DELETE FROM $T WHERE $i = #1"),
    Path("reparent target", "UPDATE $T SET $r = #3 WHERE $i = #1"),
    Path("reparent every target", "UPDATE $T SET $r = #2"),
    Path(
      "refer in another case, then update source",
      "UPDATE $T SET $r = lower($r); UPDATE $S SET $c = 'Ada' WHERE $k = #1"),
    Path("orphan target", "UPDATE $T SET $r = NULL WHERE $i = #1"),
    Path("dangle target", "UPDATE $T SET $r = #7 WHERE $i = #1"),
    Path("overwrite bound field", "UPDATE $T SET $f = 'junk' WHERE $i = #1"),
    Path("overwrite bound field everywhere", "UPDATE $T SET $f = 'junk' || $o"),
    Path("overwrite bound field in case only", "UPDATE $T SET $f = 'ANN' WHERE $i = #1"),
    Path("overwrite and reparent", "UPDATE $T SET $f = 'junk', $r = #3 WHERE $i = #1"),
    Path("rekey target", "UPDATE $T SET $i = #8 WHERE $i = #1"),
    Path("rekey and reparent target", "UPDATE $T SET $i = #8, $r = #2 WHERE $i = #1"),
    Path(
      "undo by savepoint",
      "SAVEPOINT s; UPDATE $S SET $c = 'Ada'; ROLLBACK TO s; UPDATE $T SET $f = 'junk'"),
  ]

  static let all = [defaulted, optional, required, ugly, untyped]

  private static let plainNames: [Character: String] = [
    "S": "Artist", "k": "id", "c": "name", "u": "code",
    "T": "Album", "i": "id", "r": "artistID", "f": "artistName", "o": "title",
  ]

  private static func models(
    text: FieldType = .text, reference: FieldSchema, bound: FieldSchema
  ) -> [ModelSchema] {
    [
      ModelSchema(
        name: "Artist",
        fields: [
          FieldSchema(name: "id", type: .integer, isRowID: true),
          FieldSchema(name: "name", type: text),
          FieldSchema(name: "code", type: .text, isUnique: true),
        ], key: ["id"]),
      ModelSchema(
        name: "Album",
        fields: [
          FieldSchema(name: "id", type: .integer, isRowID: true), reference, bound,
          FieldSchema(name: "title", type: .text),
        ], key: ["id"]),
    ]
  }

  private static let copyName = BindingSchema(
    target: .init(model: "Album", field: "artistName"),
    formula: .copy(source: .init(model: "Artist", field: "name"), through: "artistID"))

  static let defaulted = BindingWorld(
    name: "a default while there is no source", names: plainNames, key: { "\($0)" },
    tables: """
      CREATE TABLE Artist (id INTEGER PRIMARY KEY, name TEXT NOT NULL, code TEXT NOT NULL UNIQUE) STRICT;
      CREATE TABLE Album (
        id INTEGER PRIMARY KEY,
        artistID INTEGER REFERENCES Artist ON DELETE SET NULL ON UPDATE CASCADE,
        artistName TEXT NOT NULL DEFAULT '', title TEXT NOT NULL
      ) STRICT
      """,
    models: models(
      reference: FieldSchema(
        name: "artistID", type: .integer, isOptional: true,
        reference: ReferenceSchema(table: "Artist", onDelete: .setNull, onUpdate: .cascade)),
      bound: FieldSchema(name: "artistName", type: .text, defaultSQL: "''")),
    binding: copyName,
    oracle: """
      SELECT count(*) FROM Album AS a LEFT JOIN Artist AS s ON s.id = a.artistID
      WHERE a.artistName IS NOT iif(s.id IS NULL, '', s.name)
      """,
    refusals: [
      .library: [
        "dangle target", "insert dangling target", "insert source for dangling targets",
        "rekey source onto a dangling key",
      ]
    ])

  static let optional = BindingWorld(
    name: "NULL while there is no source", names: plainNames, key: { "\($0)" },
    tables: """
      CREATE TABLE Artist (id INTEGER PRIMARY KEY, name TEXT NOT NULL, code TEXT NOT NULL UNIQUE);
      CREATE TABLE Album (
        id INTEGER PRIMARY KEY,
        artistID INTEGER REFERENCES Artist ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
        artistName TEXT COLLATE NOCASE, title TEXT NOT NULL
      )
      """,
    models: models(
      reference: FieldSchema(
        name: "artistID", type: .integer, isOptional: true,
        reference: ReferenceSchema(table: "Artist", onDelete: .cascade)),
      bound: FieldSchema(name: "artistName", type: .text, isOptional: true, collation: .nocase)),
    binding: copyName,
    oracle: """
      SELECT count(*) FROM Album AS a LEFT JOIN Artist AS s ON s.id = a.artistID
      WHERE hex(a.artistName) || typeof(a.artistName) IS NOT hex(s.name) || typeof(s.name)
      """,
    refusals: [:])

  static let required = BindingWorld(
    name: "the last value while there is no source", names: plainNames, key: { "\($0)" },
    tables: """
      CREATE TABLE Artist (id INTEGER PRIMARY KEY, name TEXT NOT NULL, code TEXT NOT NULL UNIQUE) STRICT;
      CREATE TABLE Album (
        id INTEGER PRIMARY KEY, artistID INTEGER NOT NULL REFERENCES Artist DEFERRABLE INITIALLY DEFERRED,
        artistName TEXT NOT NULL, title TEXT NOT NULL
      ) STRICT
      """,
    models: models(
      reference: FieldSchema(
        name: "artistID", type: .integer, reference: ReferenceSchema(table: "Artist")),
      bound: FieldSchema(name: "artistName", type: .text)),
    binding: copyName,
    oracle: """
      SELECT count(*) FROM Album AS a JOIN Artist AS s ON s.id = a.artistID
      WHERE a.artistName IS NOT s.name
      """,
    refusals: [
      .library: ["insert target without reference", "orphan target"],
      .shell: ["insert target without reference", "orphan target"],
    ])

  static let ugly = BindingWorld(
    name: "text keys, no rowids, names that need quoting",
    names: [
      "S": "s", "k": "the \"key\"", "c": "select", "u": "ünique, x",
      "T": "order.by", "i": "k 1", "r": "s", "f": "a.b", "o": "_ms_source",
    ],
    key: { "'Kéy \($0)'" },
    tables: #"""
      CREATE TABLE s (
        "the ""key""" TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, "select" TEXT NOT NULL, "ünique, x" TEXT UNIQUE
      ) WITHOUT ROWID;
      CREATE TABLE "order.by" (
        "k 1" TEXT, "_ms_source" TEXT NOT NULL, s TEXT, "a.b" TEXT DEFAULT 'no''ne', PRIMARY KEY ("k 1", "_ms_source")
      ) WITHOUT ROWID
      """#,
    models: [
      ModelSchema(
        name: "Sour.ce", table: "s",
        fields: [
          FieldSchema(name: "key", column: "the \"key\"", type: .text, collation: .nocase),
          FieldSchema(name: "copied", column: "select", type: .text),
          FieldSchema(
            name: "u", column: "ünique, x", type: .text, isOptional: true, isUnique: true),
        ], key: ["key"], isWithoutRowID: true),
      ModelSchema(
        name: "Tar.get", table: "order.by",
        fields: [
          FieldSchema(name: "k", column: "k 1", type: .text),
          FieldSchema(name: "other", column: "_ms_source", type: .text),
          FieldSchema(name: "ref", column: "s", type: .text, isOptional: true),
          FieldSchema(
            name: "bound", column: "a.b", type: .text, isOptional: true, defaultSQL: "'no''ne'"),
        ], key: ["k", "other"], isWithoutRowID: true),
    ],
    binding: BindingSchema(
      name: "it's \"bound\"_source_update", target: .init(model: "Tar.get", field: "bound"),
      formula: .copy(source: .init(model: "Sour.ce", field: "copied"), through: "ref")),
    oracle: #"""
      SELECT count(*) FROM "order.by" AS t LEFT JOIN s AS q ON q."the ""key""" = t.s
      WHERE t."a.b" IS NOT CASE WHEN q."the ""key""" IS NULL THEN 'no''ne' ELSE q."select" END
      """#,
    // The target's key has two columns here, so nothing conflicts on the first alone.
    refusals: [:])

  static let untyped = BindingWorld(
    name: "columns of any storage class", names: plainNames, key: { "\($0)" },
    tables: """
      CREATE TABLE Artist (id INTEGER PRIMARY KEY, name ANY, code TEXT NOT NULL UNIQUE) STRICT;
      CREATE TABLE Album (id INTEGER PRIMARY KEY, artistID INTEGER, artistName ANY, title TEXT) STRICT
      """,
    models: models(
      text: .any, reference: FieldSchema(name: "artistID", type: .integer, isOptional: true),
      bound: FieldSchema(name: "artistName", type: .any, isOptional: true)),
    binding: copyName,
    oracle: """
      SELECT count(*) FROM Album AS a LEFT JOIN Artist AS s ON s.id = a.artistID
      WHERE quote(a.artistName) IS NOT quote(s.name)
      """,
    refusals: [:])
}
