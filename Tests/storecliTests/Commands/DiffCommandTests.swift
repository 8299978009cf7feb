import Foundation
import Testing

/// `diff`: compares two databases, applies the difference, and prints one for git.
@Suite(.tags(.process)) struct DiffCommandTests {
  private static let table = """
    CREATE TABLE Note(id INTEGER PRIMARY KEY, text TEXT NOT NULL CHECK (text <> ''), size REAL);
    """

  /// A directory with `a.db` and `b.db`, which differ in three notes.
  private func two() throws -> Workplace {
    let place = try Workplace()
    for (name, rows) in [
      ("a.db", "(1, 'one', 1), (2, 'two', 2), (3, 'three', NULL)"),
      ("b.db", "(1, 'one', 1), (2, 'deux', 2), (4, 'four', 4.5)"),
    ] {
      try RawDatabase(place.path(name)).execute(
        "\(Self.table) INSERT INTO Note VALUES \(rows)")
      try #require(try place.run("adopt", "-d", name).code == 0)
    }
    return place
  }

  private func texts(_ place: Workplace, in name: String) throws -> String {
    try RawDatabase(place.path(name)).value("SELECT group_concat(text) FROM Note")
  }

  @Test func theDifferenceIsPrintedInEachFormat() throws {
    let place = try two()
    #expect(
      try place.run("diff", "a.db", "b.db")
        == Outcome(
          code: 2,
          out: """
            ~ Note 2  text: "two" -> "deux"
            - Note 3  text: "three"
            + Note 4  text: "four"  size: 4.5

            """, err: "3 records\n"))
    let lines = [
      #"{"op":"update","model":"Note","id":2,"changes":{"text":{"old":"two","new":"deux"}}}"#,
      #"{"op":"delete","model":"Note","id":3,"changes":{"id":{"old":3},"text":{"old":"three"},"size":{"old":null}}}"#,
      #"{"op":"insert","model":"Note","id":4,"changes":{"id":{"new":4},"text":{"new":"four"},"size":{"new":4.5}}}"#,
    ]
    #expect(
      try place.run("diff", "a.db", "b.db", "--ndjson", "-q")
        == Outcome(code: 2, out: lines.joined(separator: "\n") + "\n", err: ""))
    #expect(
      try place.run("diff", "a.db", "b.db", "--json", "-q").out
        == "[\n" + lines.joined(separator: ",\n") + "\n]\n")
    #expect(
      try place.run("diff", "a.db", "b.db", "--csv", "-q").out.replacing("\r\n", with: "\n")
        == """
        op,model,id,field,old,new
        update,Note,2,text,two,deux
        delete,Note,3,id,3,
        delete,Note,3,text,three,
        delete,Note,3,size,,
        insert,Note,4,id,,4
        insert,Note,4,text,,four
        insert,Note,4,size,,4.5

        """)
    #expect(
      try place.run("diff", "a.db", "a.db") == Outcome(code: 0, out: "", err: "0 records\n"))
    #expect(try place.run("diff", "a.db", "a.db", "--json", "-q").out == "[]\n")
  }

  @Test func applyingMakesTheFirstLikeTheSecond() throws {
    let place = try two()
    let dry = try place.run("diff", "a.db", "b.db", "--apply", "-n")
    #expect(
      dry.code == 0
        && dry.err
          == "1 Note updated; 1 Note inserted; 1 Note deleted\ndry run: nothing was written\n",
      "\(dry)")
    #expect(try texts(place, in: "a.db") == "one,two,three")
    let applied = try place.run("diff", "a.db", "b.db", "--apply", "--ndjson")
    #expect(applied.code == 0, "\(applied)")
    #expect(
      applied.out.split(separator: "\n").map { $0.prefix(14) } == [
        #"{"op":"update""#, #"{"op":"insert""#, #"{"op":"delete""#,
      ], "\(applied)")
    #expect(try texts(place, in: "a.db") == "one,deux,four")
    #expect(
      try place.run("diff", "a.db", "b.db", "--apply")
        == Outcome(code: 0, out: "", err: "no change: the records are the same\n"))
  }

  @Test func aRuleRefusesTheDifferenceAsAWhole() throws {
    let place = try two()
    try RawDatabase(place.path("b.db")).execute(
      "PRAGMA ignore_check_constraints = ON; UPDATE Note SET text = '' WHERE id = 1")
    let refused = try place.run("diff", "a.db", "b.db", "--apply")
    #expect(refused.code == 4 && refused.out == "", "\(refused)")
    #expect(try texts(place, in: "a.db") == "one,two,three")
  }

  @Test func gitShowsRecordsThroughTextconv() throws {
    let place = try two()
    let text = Outcome(
      code: 0,
      out: """
        + Note 1  text: "one"  size: 1.0
        + Note 2  text: "two"  size: 2.0
        + Note 3  text: "three"

        """, err: "")
    #expect(try place.run("diff", "--text", "a.db") == text)
    // Git puts files into directories of their own, and removes what it knows of.
    let beside = try FileManager.default.contentsOfDirectory(atPath: place.directory)
    #expect(beside.filter { $0.hasPrefix("a.db-") } == [])
    try #require(FileManager.default.isExecutableFile(atPath: "/usr/bin/git"))
    let program = Workplace.program
    let script = """
      git init -q . && git config user.email a@b.c && git config user.name a &&
      git config diff.store.textconv '\(program) diff --text' &&
      echo '*.db diff=store' > .gitattributes && cp a.db app.db && git add app.db &&
      git commit -qm first && cp b.db app.db && git diff --no-color -U0 app.db | tail -n +6
      """
    let shell = Process()
    let output = Pipe()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", script]
    shell.currentDirectoryURL = URL(fileURLWithPath: place.directory)
    shell.environment = [
      "HOME": place.directory, "PATH": "/usr/bin:/bin", "TMPDIR": place.directory,
    ]
    shell.standardOutput = output
    try shell.run()
    let seen = output.fileHandleForReading.readDataToEndOfFile()
    shell.waitUntilExit()
    #expect(
      String(decoding: seen, as: UTF8.self)
        == """
        -+ Note 2  text: "two"  size: 2.0
        -+ Note 3  text: "three"
        ++ Note 2  text: "deux"  size: 2.0
        ++ Note 4  text: "four"  size: 4.5

        """)
  }

  /// Otherwise git would show no difference.
  @Test func longValuesAreWholeOutsideATerminal() throws {
    let place = try Workplace()
    let long = String(repeating: "x", count: 70)
    for (name, end) in [("a.db", "1"), ("b.db", "2")] {
      try RawDatabase(place.path(name)).execute(
        """
        CREATE TABLE T(id INTEGER PRIMARY KEY, t TEXT, b BLOB);
        INSERT INTO T VALUES (1, '\(long)\(end)', x'010\(end)');
        """)
      try #require(try place.run("adopt", "-d", name).code == 0)
    }
    #expect(
      try place.run("diff", "--text", "a.db").out == "+ T 1  t: \"\(long)1\"  b: x'0101'\n")
    #expect(
      try place.run("diff", "a.db", "b.db").out
        == "~ T 1  t: \"\(long)1\" -> \"\(long)2\"  b: x'0101' -> x'0102'\n")
    try #require(try place.run("journal", "on", "-d", "a.db").code == 0)
    #expect(
      try place.run("update", "T", "1", "t=\(long)3", "-d", "a.db").out
        == "~ T 1  t: \"\(long)1\" -> \"\(long)3\"\n")
    #expect(try place.run("history", "-d", "a.db").out.contains("-> \"\(long)3\""))
  }

  @Test func databasesThatCannotBeComparedHaveAStatusOfTheirOwn() throws {
    let place = try two()
    #expect(try place.run("diff", "a.db", "missing.db").code == 3)
    #expect(try place.run("diff", "missing.db", "a.db").code == 3)
    for words in [
      ["a.db"], ["a.db", "b.db", "--text"], ["--text", "a.db", "--apply"],
      ["a.db", "b.db", "-d", "a.db"], ["a.db", "b.db", "-n"], ["a.db", "b.db", "--fields", "op"],
    ] {
      #expect(try place.run(["diff"] + words).code == 64, "\(words)")
    }
    for name in ["plain.db", "also.db"] {
      try RawDatabase(place.path(name)).execute("CREATE TABLE t(a INTEGER PRIMARY KEY)")
    }
    #expect(
      try place.run("diff", "plain.db", "also.db")
        == Outcome(
          code: 3, out: "",
          err: """
            error[unknownModel]: The database has no models yet, so it has no records.
            hint: storecli adopt -d plain.db

            """))
    // Git would stop at a version without models.
    #expect(
      try place.run("diff", "--text", "plain.db")
        == Outcome(
          code: 0, out: "", err: "the database has no models yet, so it has no records\n"))
    try RawDatabase(place.path("c.db")).execute(
      "CREATE TABLE Note(id INTEGER PRIMARY KEY, other TEXT)")
    try place.run("adopt", "-d", "c.db")
    let other = try place.run("diff", "a.db", "c.db")
    #expect(
      other
        == Outcome(
          code: 1, out: "",
          err: """
            error[schemaMismatch]: Note: \(place.path("c.db")) lacks the fields text, size; \
            \(place.path("a.db")) lacks the field other. So the stores cannot be compared.

            """))
  }
}
