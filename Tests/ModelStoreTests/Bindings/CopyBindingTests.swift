import Testing

@testable import ModelStore
@testable import SchemaCompiler

/// A copied field is up to date after every statement of every program.
@Suite(.tags(.unit)) struct CopyBindingTests {
  @Test(arguments: BindingWorld.all)
  func everyPathOfTheLibraryKeepsTargetsInSync(world: BindingWorld) throws {
    let fixture = try BindingFixture(world.setUp)
    try fixture.install([world.binding], in: world.models)
    var wrong: [String] = []
    var refused: Set<String> = []
    for path in BindingWorld.paths {
      try fixture.connection.execute("BEGIN")
      if try fixture.failure(of: world.sql(path.sql)) != nil { refused.insert(path.name) }
      if try fixture.rows(world.oracle) != ["0"] { wrong.append(path.name) }
      try fixture.connection.execute("ROLLBACK")
    }
    #expect(wrong == [])
    #expect(refused == world.refusals[.library] ?? [])
  }

  @Test(.enabled(if: Shell.isInstalled, Shell.reason), arguments: BindingWorld.all)
  func everyPathOfTheShellKeepsTargetsInSync(world: BindingWorld) throws {
    let fixture = try BindingFixture(world.setUp)
    try fixture.install([world.binding], in: world.models)
    let script = BindingWorld.paths.map { path in
      """
      BEGIN;
      \(world.sql(path.sql));
      SELECT (\(world.oracle)) || ' \(path.name.replacing("'", with: "''"))';
      ROLLBACK;
      """
    }
    let result = try fixture.shell(script.joined(separator: "\n"))
    #expect(result.output == BindingWorld.paths.map { "0 \($0.name)" })
    #expect(result.errors.count == world.refusals[.shell]?.count ?? 0, "\(result.errors)")
  }

  @Test func driftFromEvictionsIsCountedAndRepaired() throws {
    let world = BindingWorld.defaulted
    let fixture = try BindingFixture(world.setUp)
    try fixture.install([world.binding], in: world.models)
    let triggers = try CompiledBindings([world.binding], in: world.models).bindings[0]
    try fixture.connection.execute("PRAGMA foreign_keys = OFF; PRAGMA recursive_triggers = OFF")
    try fixture.connection.execute("DROP TRIGGER \"_ms_binding_Album.artistName_note_insert\"")
    try fixture.connection.execute("REPLACE INTO Artist VALUES (6, 'Ben', 'b')")
    #expect(try triggers.driftingRecordCount(on: fixture.connection) == 1)
    #expect(
      try fixture.rows("SELECT id FROM Album WHERE \(triggers.driftCondition)") == ["3"])
    #expect(try triggers.synchronise(on: fixture.connection) == 1)
    #expect(
      try fixture.rows("SELECT * FROM Album") == [
        "1|1|'Ann'|'x'", "2|1|'Ann'|'y'", "3|2|''|'z'", "4|3|'Cid'|'w'",
      ])
  }

  /// Statements at random from both writers, one after the other on one file.
  @Test(
    .enabled(if: Shell.isInstalled, Shell.reason), arguments: BindingWorld.all,
    [UInt64(1), 2, 3])
  func statementsOfTwoWritersNeverLeaveDrift(world: BindingWorld, seed: UInt64) throws {
    let fixture = try BindingFixture(world.setUp)
    try fixture.install([world.binding], in: world.models)
    var random = StatementSource(seed: seed)
    for round in 0..<6 {
      let statements = (0..<40).map { _ in world.sql(random.statement()) }
      if round.isMultiple(of: 2) {
        for statement in statements {
          let failure = try fixture.failure(of: statement)
          #expect(
            try fixture.rows(world.oracle) == ["0"],
            "seed \(seed), \(statement), \(failure?.message ?? "accepted")")
        }
      } else {
        let script = statements.map { "\($0);\n\(world.oracle);" }
        let output = try fixture.shell(script.joined(separator: "\n")).output
        let first = zip(output, statements).first { $0.0 != "0" }?.1
        #expect(first == nil, "seed \(seed)")
        #expect(output.count == statements.count, "seed \(seed)")
      }
    }
  }

  @Test(.enabled(if: Shell.isInstalled, Shell.reason))
  func renamingAnArtistMovesItsAlbumsFromBothWriters() throws {
    let world = BindingWorld.optional
    let fixture = try BindingFixture(world.setUp)
    try fixture.install([world.binding], in: world.models)
    try fixture.connection.execute("UPDATE Artist SET name = 'Ada' WHERE id = 1")
    let shell = try fixture.shell(
      "UPDATE Artist SET name = 'Ben' WHERE id = 2; UPDATE Album SET artistName = 'me' WHERE id = 4;"
    )
    #expect(shell == .init(output: [], errors: []))
    #expect(
      try fixture.rows("SELECT * FROM Album") == [
        "1|1|'Ada'|'x'", "2|1|'Ada'|'y'", "3|2|'Ben'|'z'", "4|3|'Cid'|'w'",
      ])
  }

  @Test(.enabled(if: Shell.isInstalled, Shell.reason))
  func aValueThatTheTargetRefusesFailsAtTheSourceEvenUnderOrIgnore() throws {
    let world = BindingWorld.defaulted
    let tables = world.tables.replacing(
      "artistName TEXT NOT NULL DEFAULT ''",
      with: "artistName TEXT NOT NULL DEFAULT '' CHECK (length(artistName) < 6)")
    let fixture = try BindingFixture(tables + world.setUp.dropFirst(world.tables.count))
    try fixture.install([world.binding], in: world.models)
    let before = try fixture.rows("SELECT * FROM Artist")
    let refusal =
      "The binding Album.artistName cannot be kept: Album.artistName does not take the value."
    let plain = try #require(
      try fixture.failure(of: "UPDATE Artist SET name = 'Annabel' WHERE id = 1"))
    #expect(plain.code == .constraintCheck)
    let ignoring = try #require(
      try fixture.failure(of: "UPDATE OR IGNORE Artist SET name = 'Annabel' WHERE id = 1"))
    #expect(ignoring.code == .constraintTrigger)
    #expect(ignoring.message == refusal)
    let shell = try fixture.shell("UPDATE OR IGNORE Artist SET name = 'Annabel' WHERE id = 1;")
    #expect(shell.errors.count == 1 && shell.errors[0].contains(refusal), "\(shell.errors)")
    #expect(try fixture.rows("SELECT * FROM Artist") == before)
    #expect(try fixture.rows(world.oracle) == ["0"])
  }

  @Test func aDifferenceOnlyInStorageClassIsCopied() throws {
    let world = BindingWorld.untyped
    let fixture = try BindingFixture(world.setUp)
    try fixture.install([world.binding], in: world.models)
    for literal in ["1", "1.0", "'1'", "x'31'", "NULL", "9007199254740993", "0.1"] {
      try fixture.connection.execute("UPDATE Artist SET name = \(literal) WHERE id = 3")
      let expected = try fixture.rows("SELECT \(literal)")
      #expect(try fixture.rows("SELECT artistName FROM Album WHERE id = 4") == expected)
    }
  }

  @Test func recordsOfOneTableFollowEachOther() throws {
    let fixture = try BindingFixture(
      """
      CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, bossID INTEGER REFERENCES Person, bossName TEXT);
      INSERT INTO Person VALUES (1, 'Ann', NULL, 'junk'), (2, 'Bob', 1, NULL), (3, 'Cid', 3, NULL);
      """)
    let person = ModelSchema(
      name: "Person",
      fields: [
        FieldSchema(name: "id", type: .integer, isRowID: true),
        FieldSchema(name: "name", type: .text),
        FieldSchema(
          name: "bossID", type: .integer, isOptional: true,
          reference: ReferenceSchema(table: "Person")),
        FieldSchema(name: "bossName", type: .text, isOptional: true),
      ], key: ["id"])
    let binding = BindingSchema(
      target: .init(model: "Person", field: "bossName"),
      formula: .copy(source: .init(model: "Person", field: "name"), through: "bossID"))
    #expect(
      try fixture.install([binding], in: [person]) == [
        .init(binding: "Person.bossName", recordCount: 3)
      ])
    try fixture.connection.execute(
      """
      UPDATE Person SET name = name || name;
      INSERT INTO Person VALUES (4, 'Dee', 4, 'junk'), (5, 'Eve', 2, 'junk');
      UPDATE Person SET name = 'Zoe', bossID = 5 WHERE id = 5;
      UPDATE Person SET bossName = 'junk', name = 'Bea' WHERE id = 2;
      """)
    #expect(
      try fixture.rows("SELECT * FROM Person") == [
        "1|'AnnAnn'|NULL|NULL", "2|'Bea'|1|'AnnAnn'", "3|'CidCid'|3|'CidCid'", "4|'Dee'|4|'Dee'",
        "5|'Zoe'|5|'Zoe'",
      ])
  }

  @Test func anAliasOfTheRowidIsTheKey() throws {
    for alias in ["rowid", "oid", "_rowid_", "ID"] {
      let world = BindingWorld.defaulted
      let fixture = try BindingFixture(world.setUp)
      try fixture.install([world.binding], in: world.models)
      try fixture.connection.execute("PRAGMA foreign_keys = OFF")
      try fixture.connection.execute("UPDATE Artist SET \(alias) = 9 WHERE id = 2")
      #expect(try fixture.rows("SELECT artistName FROM Album WHERE id = 3") == ["''"], "\(alias)")
    }
  }
}

/// Random statements over the placeholders of ``BindingWorld``.
private struct StatementSource {
  private var generator: SeededGenerator
  private let names = ["'Ann'", "'ann'", "'Bob'", "'B''ob'", "''", "'ü'"]

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
  }

  mutating func statement() -> String {
    let name = pick(names)
    let policy = pick(["", "OR IGNORE ", "OR REPLACE ", "OR FAIL "])
    // Evicting through another unique set is the one thing that the shell's triggers do not see, so
    // unique values are never shared between keys.
    let (key, other) = (pick(1...6), pick(1...6))
    return switch Int.random(in: 0..<14, using: &generator) {
    case 0: "INSERT \(policy)INTO $S ($k, $c, $u) VALUES (#\(key), \(name), 'u\(key)')"
    case 1: "UPDATE \(policy)$S SET $c = \(name) WHERE $k = #\(key)"
    case 2: "UPDATE \(policy)$S SET $c = \(name) WHERE $k IN (#\(key), #\(other))"
    case 3: "DELETE FROM $S WHERE $k = #\(key)"
    case 4: "UPDATE \(policy)$S SET $k = #\(key), $u = 'u\(key)' WHERE $k = #\(other)"
    case 5:
      "INSERT INTO $S ($k, $c, $u) VALUES (#\(key), \(name), 'u\(key)') ON CONFLICT DO UPDATE SET $c = excluded.$c"
    case 6: "INSERT \(policy)INTO $T ($i, $r, $f, $o) VALUES (#\(key), #\(other), \(name), 'o')"
    case 7: "UPDATE \(policy)$T SET $r = #\(other) WHERE $i = #\(key)"
    case 8: "UPDATE \(policy)$T SET $f = \(name) WHERE $i = #\(key)"
    case 9: "UPDATE \(policy)$T SET $r = NULL, $f = \(name) WHERE $i = #\(key)"
    case 10: "DELETE FROM $T WHERE $i = #\(key)"
    case 11: "UPDATE \(policy)$T SET $i = #\(other) WHERE $i = #\(key)"
    case 12:
      "INSERT INTO $T ($i, $r, $f, $o) SELECT #\(key), $k, \(name), 'p' FROM $S WHERE $k = #\(other)"
    default: "UPDATE \(policy)$S SET $c = $c || 'x'"
    }
  }

  private mutating func pick<Choices: Collection>(_ choices: Choices) -> Choices.Element {
    choices[
      choices.index(
        choices.startIndex, offsetBy: Int.random(in: 0..<choices.count, using: &generator))]
  }
}
