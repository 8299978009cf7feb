import ModelStore
import Testing

@testable import StoreCommand

/// Commands that change the schema of a shared store. The ledger is in this process.
@Suite(.tags(.process)) struct SharedSchemaCommandTests {
  private let place: Workplace
  private let ledger = MemoryLedger()

  init() throws {
    place = try Workplace()
    place.environment["STORECLI_LEDGER"] = "memory"
    try RawDatabase(place.path("a.db")).execute(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);
      CREATE TABLE u (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t, name TEXT);
      CREATE TABLE v (id INTEGER PRIMARY KEY, b TEXT);
      INSERT INTO t VALUES (1, 'x');
      INSERT INTO u VALUES (1, 1, NULL);
      """)
    for words in [["adopt", "t", "u"], ["journal", "on"]] {
      try #require(try place.run(words + ["-d", "a.db"]).code == 0)
    }
    try #require(try run("share", "music", "-d", "a.db").code == 0)
    try #require(try run("join", "music", "-d", "b.db").code == 0)
    try place.makeDirectory("Migrations")
  }

  private func run(_ words: String...) throws -> Outcome { try run(words) }

  private func run(_ words: [String]) throws -> Outcome { try place.run(words, with: ledger) }

  private func write(_ version: Int, up: String, down: String = "SELECT 1") throws {
    try place.write("-- up\n\(up);\n\n-- down\n\(down);\n", to: "Migrations/\(version)_m.sql")
  }

  private static let notice = "the other members of music get this schema when they open\n"

  /// Runs a command on the first member, which changes the schema for all members.
  private func change(
    _ words: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    let before = try #require(try ledger.standing())
    let outcome = try run(words + ["-d", "a.db"])
    let after = try #require(try ledger.standing())
    #expect(outcome.code == 0, "\(words): \(outcome)", sourceLocation: sourceLocation)
    #expect(outcome.err.contains(Self.notice), "\(outcome)", sourceLocation: sourceLocation)
    #expect(after.epoch == before.epoch + 1, "\(words)", sourceLocation: sourceLocation)
    #expect(after.number == before.number.next, "\(words)", sourceLocation: sourceLocation)
    return outcome
  }

  /// Runs a command that leaves the shared store and the member's file unchanged.
  private func keep(
    _ words: [String], code: Int32, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    let before = try ledger.standing()
    let schema = try schema("a.db")
    let outcome = try run(words + ["-d", "a.db"])
    #expect(outcome.code == code, "\(words): \(outcome)", sourceLocation: sourceLocation)
    #expect(!outcome.err.contains(Self.notice), "\(outcome)", sourceLocation: sourceLocation)
    #expect(try ledger.standing() == before, "\(words)", sourceLocation: sourceLocation)
    #expect(try self.schema("a.db") == schema, "\(words)", sourceLocation: sourceLocation)
    return outcome
  }

  /// The definitions in a file, as any other program reads them.
  private func schema(_ name: String) throws -> String {
    try RawDatabase(place.path(name)).value(
      """
      SELECT group_concat(name || ' ' || coalesce(sql, ''), char(10))
      FROM (SELECT name, sql FROM sqlite_schema ORDER BY type, name)
      """)
  }

  @Test func eachCommandThatChangesTheSchemaDoesSoForAllMembers() throws {
    try write(1, up: "ALTER TABLE t ADD COLUMN c TEXT", down: "ALTER TABLE t DROP COLUMN c")
    let copy = ["bindings", "add", "copy", "u.name", "--from", "t.a", "--through", "t", "--yes"]
    let commands = [
      ["rules", "add", "t", "--length", "a=1..9"], ["rules", "drop", "t.a.length"], copy,
      ["bindings", "drop", "u.name", "--yes"], ["journal", "off", "u"], ["journal", "on", "u"],
      ["adopt", "v"], ["migrate", "up"], ["adopt", "--refresh"], ["migrate", "redo", "--yes"],
      ["migrate", "down", "--yes"], ["adopt", "--refresh"], ["migrate", "to", "1"],
    ]
    for words in commands { _ = try change(words) }
    try write(1, up: "ALTER TABLE t ADD COLUMN c TEXT NULL", down: "ALTER TABLE t DROP COLUMN c")
    _ = try change(["migrate", "repair", "1", "--yes"])
    _ = try change(["migrate", "to", "0", "--yes"])
    let insert = try run("insert", "t", "a=y", "-d", "a.db")
    #expect(insert.code == 0, "\(insert)")
    #expect(try run("join", "music", "-d", "c.db").code == 0)
    #expect(try schema("c.db") == schema("a.db"))
    #expect(try run("insert", "v", "b=z", "-d", "c.db").code == 0)
    #expect(try run("undo", "-d", "a.db").code == 0)
    let doctor = try run("doctor", "-d", "a.db")
    #expect(doctor.code == 0, "\(doctor)")
    let files = try place.names().filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
    #expect(!files.contains { $0.contains("schema") || $0.contains("partial") }, "\(files)")
  }

  @Test func anotherMemberReadsOnAndBeginsAgainWithItsNextWrite() throws {
    _ = try change(["rules", "add", "t", "--length", "a=1..9"])
    let earlier = try schema("b.db")
    #expect(try run("query", "t", "-d", "b.db").out == "1\tx\n")
    // A dry run leaves the file as it is.
    let preview = try run("rules", "add", "t", "--length", "a=1..8", "-d", "b.db", "-n")
    #expect(preview.code == 0, "\(preview)")
    #expect(try run("migrate", "up", "-d", "b.db", "-n").code == 0)
    #expect(try schema("b.db") == earlier)
    let long = try run("insert", "t", "a=much too long", "-d", "b.db")
    #expect(long.code == 4, "\(long)")
    #expect(try schema("b.db") == schema("a.db"))
    _ = try change(["rules", "add", "t", "--required", "a"])
    // A command that changes the schema begins with that of the others.
    let dropped = try run("rules", "drop", "t.a.length", "-d", "b.db")
    #expect(dropped.code == 0, "\(dropped)")
    #expect(try run("rules", "list", "-d", "b.db", "-o", "tsv").out.contains("required"))
    #expect(try ledger.standing()?.epoch == 4)
  }

  /// Another program has changed the file, which may be the only one with its table.
  @Test func aMemberThatMayHaveMoreStays() throws {
    try RawDatabase(place.path("b.db")).execute("CREATE TABLE own AS SELECT 5 x")
    _ = try change(["rules", "add", "t", "--length", "a=1..9"])
    let refused = try run("insert", "t", "a=y", "-d", "b.db")
    #expect(refused.code == 1 && refused.err.contains("error[memberDiverged]"), "\(refused)")
    #expect(try RawDatabase(place.path("b.db")).value("SELECT x FROM own") == "5")
  }

  /// A command looks at the newest schema, also on a member that has missed changes.
  @Test func aCommandOnAnotherMemberSeesWhatWasChanged() throws {
    _ = try change(["rules", "add", "t", "--length", "a=1..9"])
    _ = try change(["rules", "drop", "t.a.length"])
    _ = try change(["adopt", "v"])
    let inserted = try run("insert", "v", "b=z", "-d", "b.db")
    #expect(inserted.code == 0, "\(inserted)")
    #expect(try run("join", "music", "-d", "c.db").code == 0)
    _ = try change(["rules", "add", "t", "--length", "a=1..9"])
    // The rule is there, so nothing is changed.
    let present = try run("rules", "add", "t", "--length", "a=1..9", "-d", "c.db")
    #expect(present.code == 0 && !present.err.contains(Self.notice), "\(present)")
    _ = try change(["rules", "drop", "t.a.length"])
    // It is gone, so it is added again.
    let added = try run("rules", "add", "t", "--length", "a=1..9", "-d", "c.db")
    #expect(added.code == 0 && added.err.contains(Self.notice), "\(added)")
  }

  /// What it would do was decided for that schema.
  @Test func aCommandThatHasSeenTheEarlierSchemaDoesNotWrite() throws {
    func store() throws -> Store {
      try Store(
        at: place.path("a.db"), models: [], configuration: StoreConfiguration(access: .readOnly))
    }
    let seen = SharedSchemaSeen()
    var found = try store()
    seen.number = try found.sharedSchemaNumber()
    try seen.checkIsSame(in: found)
    found.close()
    _ = try change(["rules", "add", "t", "--length", "a=1..9"])
    found = try store()
    do {
      try seen.checkIsSame(in: found)
      Issue.record("The schema is another one.")
    } catch let error as CommandError {
      #expect(error.code == "memberOutdated")
    }
  }

  @Test func aBindingFillsTheRecordsOfAllMembers() throws {
    let added = try change(
      ["bindings", "add", "copy", "u.name", "--from", "t.a", "--through", "t", "--yes"])
    #expect(added.err.contains("1 record updated"), "\(added)")
    #expect(try run("join", "music", "-d", "c.db").code == 0)
    #expect(try run("update", "t", "1", "a=w", "-d", "c.db").code == 0)
    #expect(try run("query", "u", "-d", "c.db").out == "1\t1\tw\n")
  }

  /// All members would begin again for nothing.
  @Test func aCommandWithoutEffectMakesNoCommit() throws {
    let copy = ["bindings", "add", "copy", "u.name", "--from", "t.a", "--through", "t", "--yes"]
    let rule = ["rules", "add", "t", "--length", "a=1..9"]
    try write(1, up: "ALTER TABLE t ADD COLUMN c TEXT")
    for words in [copy, rule, ["migrate", "up"], ["journal", "off", "u"], ["journal", "off"]] {
      _ = try change(words)
      _ = try keep(words, code: 0)
    }
    _ = try change(["journal", "on", "t"])
    _ = try keep(["journal", "on", "t"], code: 0)
    _ = try keep(["adopt", "--type", "t.a=text"], code: 0)
    // Another detail is a change.
    _ = try change(["journal", "on", "t", "--keys"])
  }

  @Test func aDryRunChangesNothing() throws {
    try write(1, up: "ALTER TABLE t ADD COLUMN c TEXT")
    let copy = ["bindings", "add", "copy", "u.name", "--from", "t.a", "--through", "t"]
    let commands = [
      copy, ["rules", "add", "t", "--length", "a=1..9"], ["journal", "off", "t"], ["adopt", "v"],
      ["migrate", "up"],
    ]
    for words in commands { _ = try keep(words + ["-n"], code: 0) }
  }

  @Test func aRuleThatRecordsBreakIsRefusedAndChangesNothing() throws {
    let refused = try keep(["rules", "add", "t", "--length", "a=3..9"], code: 4)
    #expect(refused.err.contains("error[rejected]"), "\(refused)")
  }

  @Test func ifOneMigrationFailsNoneIsApplied() throws {
    try write(1, up: "ALTER TABLE t ADD COLUMN c TEXT")
    try write(2, up: "INSERT INTO missing VALUES (1)")
    let failed = try keep(["migrate", "up"], code: 1)
    #expect(!failed.err.contains("applied"), "\(failed)")
    #expect(!failed.err.contains(".partial"), "\(failed)")
    try write(2, up: "UPDATE t SET c = a")
    let both = try change(["migrate", "up"])
    #expect(both.err.contains("applied 1") && both.err.contains("applied 2"), "\(both)")
    #expect(try run("migrate", "up", "-d", "a.db").err.contains("nothing to do"))
  }

  @Test func aMemberWithoutItsLedgerSaysWhatIsMissing() throws {
    try write(1, up: "ALTER TABLE t ADD COLUMN c TEXT")
    place.environment["STORECLI_LEDGER"] = ""
    let commands = [
      ["rules", "add", "t", "--length", "a=1..9"], ["journal", "off", "t"], ["migrate", "up"],
    ]
    for words in commands {
      let refused = try keep(words, code: 64)
      #expect(refused.err.contains("set STORECLI_LEDGER"), "\(refused)")
    }
  }

  @Test func aFileThatAnotherStoreUsesStopsTheChange() throws {
    let other = try RawDatabase(place.path("a.db"))
    // It has a log, too.
    try other.execute("CREATE INDEX own ON t (a); DROP INDEX own")
    let words = ["rules", "add", "t", "--length", "a=1..9", "--busy-timeout", "0"]
    let refused = try keep(words, code: 5)
    #expect(refused.err.contains("cannot change while another program"), "\(refused)")
    withExtendedLifetime(other) {}
  }

  @Test func aCommandOfASessionChangesTheSchemaToo() throws {
    let before = try #require(try ledger.standing())
    let session = try place.run(
      Program(arguments: ["shell", "-d", "a.db"]) { [ledger] _, store in
        ledger.shared(as: store)
      }, input: "insert t a=y\nrules add t --length a=1..9\ninsert t a=z\n")
    #expect(session.code == 0 && session.err.contains(Self.notice), "\(session)")
    let after = try #require(try ledger.standing())
    #expect(after.epoch == before.epoch + 1 && after.number.rawValue == 3)
  }
}
