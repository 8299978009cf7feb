import Foundation
import Testing

/// What `rules add` makes of its words.
@Suite(.tags(.process)) struct AddingRulesTests {
  private func music() throws -> Workplace {
    let place = try Workplace()
    try place.makeMusic()
    return place
  }

  /// `t.db` with a model `T` of all sorts of columns and three records.
  private func table() throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("t.db")).execute(
      """
      CREATE TABLE T (
        id INTEGER PRIMARY KEY, n INTEGER, r REAL, s TEXT, b BLOB, e, "a=b" TEXT,
        CONSTRAINT npos CHECK (n >= 0), CONSTRAINT "T.check" CHECK (n < 1000));
      INSERT INTO T VALUES (1, 1, 0.5, 'x', x'00', 1, 'y'), (2, 0, 1e19, NULL, NULL, 'two', NULL),
        (3, 3, 2, 'zz', NULL, 2, '');
      """)
    place.environment["STORECLI_DB"] = place.path("t.db")
    try #require(try place.run("adopt").code == 0)
    return place
  }

  private func stored(_ place: Workplace) throws -> String {
    try RawDatabase(place.path("t.db")).value("PRAGMA journal_mode")
  }

  /// A demand and the rule that it makes: its name, fields and message.
  struct Case: Sendable, CustomTestStringConvertible {
    let words: [String]
    let name: String
    let fields: String
    let message: String
    /// A change that it refuses, and one that it allows.
    let bad: String
    let good: String

    var testDescription: String { words.joined(separator: " ") }
  }

  static let cases = [
    Case(
      words: ["--required", "s"], name: "T.s.required", fields: "s", message: "must have a value",
      bad: "s = NULL", good: "s = ''"),
    Case(
      words: ["--check", "n <> 7"], name: "T.check2", fields: "", message: "must meet n <> 7",
      bad: "n = 7", good: "n = 8"),
    Case(
      words: ["--length", "s=2.."], name: "T.s.length", fields: "s",
      message: "must have at least 2 characters", bad: "s = 'ä'", good: "s = 'äö'"),
    Case(
      words: ["--length", "s=..1"], name: "T.s.length", fields: "s",
      message: "must have at most 1 character", bad: "s = 'äö'", good: "s = 'ä'"),
    Case(
      words: ["--bytes", "s=1..3"], name: "T.s.byteLength", fields: "s",
      message: "must take 1 to 3 bytes", bad: "s = 'ää'", good: "s = 'aaa'"),
    Case(
      words: ["--range", "n=0.5..9"], name: "T.n.range", fields: "n",
      message: "must be 0.5 to 9.0", bad: "n = 0", good: "n = 9"),
    Case(
      words: ["--range", "r=0..18446744073709551616"], name: "T.r.range", fields: "r",
      message: "must be 0.0 to 1.8446744073709552e+19", bad: "r = 2e19", good: "r = 1.8e19"),
    Case(
      words: ["--one-of", "s=a,\"b,c\","], name: "T.s.oneOf", fields: "s",
      message: "must be one of: a, b,c, ''", bad: "s = 'b'", good: "s = 'b,c'"),
    Case(
      words: ["--one-of", "n=1,2"], name: "T.n.oneOf", fields: "n",
      message: "must be one of: 1, 2", bad: "n = 3", good: "n = 2"),
    Case(
      words: ["--one-of", "e=1,2"], name: "T.e.oneOf", fields: "e",
      message: "must be one of: 1, 2", bad: "e = 3", good: "e = '2'"),
    Case(
      words: ["--one-of", "b=x'00'"], name: "T.b.oneOf", fields: "b",
      message: "must be one of: x'00'", bad: "b = x'01'", good: "b = x'00'"),
    Case(
      words: ["--like", "s=A_"], name: "T.s.like", fields: "s", message: "must look like A_",
      bad: "s = 'b1'", good: "s = 'a1'"),
    Case(
      words: ["--glob", "s=A?"], name: "T.s.glob", fields: "s", message: "must look like A?",
      bad: "s = 'a1'", good: "s = 'A1'"),
    Case(
      words: ["--length", "a=b=..2"], name: "T.a=b.length", fields: "a=b",
      message: "must have at most 2 characters", bad: "\"a=b\" = 'xyz'", good: "\"a=b\" = 'xy'"),
    Case(
      words: ["--unique", "n,s"], name: "T.n-s.unique", fields: "n,s",
      message: "must be unique together", bad: "n = 3, s = 'zz'", good: "n = 3"),
    Case(
      words: ["--unique", "n", "--where", "r < 5"], name: "T.n.unique", fields: "n",
      message: "must be unique where r < 5", bad: "n = 3", good: "n = 0"),
    Case(
      words: ["--references", "n=T"], name: "T.n.exists", fields: "n",
      message: "must name an existing T", bad: "n = 9", good: "n = 2"),
    Case(
      words: ["--immutable", "n"], name: "T.n.immutable", fields: "n", message: "must not change",
      bad: "n = 9", good: "n = 1"),
    Case(
      words: ["--at-most", "1", "--per", "n"], name: "T.n.count", fields: "n",
      message: "must not be the same in more than 1 record", bad: "n = 3", good: "n = 2"),
    Case(
      words: ["--sum", "n=6"], name: "T.n.sum", fields: "n", message: "must add up to at most 6",
      bad: "n = 4", good: "n = 2"),
    Case(
      words: ["--sum", "n=6", "--per", "s"], name: "T.n.sum", fields: "n",
      message: "must add up to at most 6 for each s", bad: "n = 4, s = 'zz'", good: "n = 4"),
    Case(
      words: ["--no-overlap", "n,id"], name: "T.n-id.noOverlap", fields: "n,id",
      message: "must not overlap with another record", bad: "n = 0", good: "n = 1"),
  ]

  @Test(arguments: cases)
  func everyOptionAddsTheRuleItDescribes(demand: Case) throws {
    let place = try table()
    let name = demand.name == "T.check2" ? ["--name", "T.check2"] : []
    let added = try place.run(
      ["rules", "add", "T", "--keep-violations"] + name + demand.words)
    let single = !demand.fields.isEmpty && !demand.fields.contains(",")
    let subject = single ? "T.\(demand.fields)" : "T"
    #expect(added.code == 0)
    #expect(
      added.err.hasPrefix("added \(demand.name): \(subject) \(demand.message)\n"), "\(added)")
    #expect(
      try place.run("rules", "list", "--fields", "rule,fields,place,message", "-q").out
        .hasSuffix("\(demand.name)\t\(demand.fields)\tadded\t\(demand.message)\n"))
    // The message that another program gets.
    let raw = try RawDatabase(place.path("t.db"))
    #expect(raw.refuses("UPDATE T SET \(demand.bad) WHERE id = 1"))
    #expect(!raw.refuses("UPDATE T SET \(demand.good) WHERE id = 1"))
    #expect(try place.run("doctor", "-q").code != 1)
  }

  @Test func oneExistingViolationIsShown() throws {
    let place = try table()
    let refused = Outcome(
      code: 4, out: "",
      err: """
        error[rejected]: The rule T.n.range was not added: 1 record breaks it already. \
        Change those first; nothing was changed.
          T 2.n  must be 1 or greater  (rule T.n.range)
        hint: --keep-violations adds the rule and leaves those records as they are

        """)
    for ending in [["-n"], []] {
      #expect(try place.run(["rules", "add", "T", "--range", "n=1.."] + ending) == refused)
    }
    let json = try place.run("rules", "add", "T", "--range", "n=1..", "-n", "--json")
    #expect(json.code == 4)
    #expect(json.out.isEmpty)
    #expect(
      json.err.hasPrefix("{\"error\":{\"code\":\"rejected\",") && json.err.contains("\"id\":2"))
  }

  @Test func theFirstExistingViolationsAreShown() throws {
    let place = try music()
    let words = ["rules", "add", "Track", "--check", "id < 0", "--keep-violations"]
    let broken = "broken by 1 201 records: 1 2 3 4 5 …\n"
    #expect(
      try place.run(words + ["-n"])
        == Outcome(
          code: 0, out: "",
          err: "would be added: Track.check: Track must meet id < 0\n\(broken)"
            + "dry run: nothing was added\n"))
    #expect(
      try place.run(words)
        == Outcome(
          code: 0, out: "", err: "added Track.check: Track must meet id < 0\n\(broken)"))
  }

  @Test func omittedOptionsKeepTheirValues() throws {
    let place = try music()
    let words = ["rules", "add", "Track", "--check", "seconds <> 13"]
    #expect(
      try place.run(words + ["--message", "must be lucky", "--severity", "warning"]).code == 0)
    #expect(
      try place.run(words)
        == Outcome(
          code: 0, out: "", err: "changed Track.check: Track must be lucky\n"))
    #expect(try place.run(words + ["--severity", "error"]).code == 0)
    #expect(
      try place.run("rules", "list", "Track", "--fields", "rule,severity,message", "-q").out
        .hasSuffix("Track.check\terror\tmust be lucky\n"))
    #expect(try place.run("update", "Track", "1", "seconds=13").code == 4)
  }

  @Test(arguments: [
    (["--check", "Milliseconds > 0"], "T has no column Milliseconds."),
    (["--check", "nn > 0"], "T has no column nn; did you mean n?"),
    (["--check", ""], "The rule T.check2 cannot be kept: the condition is empty."),
    (
      ["--unique", "n", "--where", ""], "The rule T.check2 cannot be kept: the condition is empty."
    ),
    (["--check", "raise(abort, 'x')"], "RAISE is for triggers"),
    (["--at-most=-5"], "--at-most takes 0 or more; got -5."),
    (["--no-overlap", "n"], "--no-overlap takes two fields; got n."),
    (["--sum", "n=9007199254740993"], "--sum takes a limit that a 64-bit real keeps exactly"),
    (["--sum", "s=5"], "--sum takes a field of numbers; s is of type text."),
    (["--range", "s=1..5"], "--range takes a field of numbers; s is of type text."),
    (
      ["--range", "n=0..18446744073709551616"],
      "--range takes numbers that fit the field; “18446744073709551616” is not one"
    ),
    (["--length", "s=-1..300"], "--length takes numbers that fit the field; “-1” is not one."),
    (["--length", "s"], "--length takes FIELD=…; got s."),
    (["--one-of", "n=1,x"], "--one-of does not fit n: "),
    (["--required", "n,n"], "--required takes a field once; got n,n."),
    (["--at-most", "5", "--per", "n,n"], "--at-most takes a field once; got n,n."),
    (["--immutable", "n", "--severity", "warning"], "--immutable takes no warning"),
    (["--required", "n", "--message", ""], "--name and --message take a text."),
    (["--required", "n", "--severity", "mild"], "--severity takes error or warning; got mild."),
  ])
  func invalidRuleArgumentsAreAUsageError(words: [String], message: String) throws {
    let place = try table()
    for ending in [["-n"], []] {
      let outcome = try place.run(
        ["rules", "add", "T", "--name", "T.check2"] + words + ending)
      #expect(outcome.code == 64 && outcome.out.isEmpty)
      #expect(outcome.err.contains(message), "\(outcome)")
      #expect(outcome.err.contains("\nhint: storecli "), "\(outcome)")
    }
    #expect(try place.run("rules", "add", "T", "--required", "n", "--name", "").code == 64)
  }

  @Test func theErrorSuggestsTheModelWithASimilarName() throws {
    let place = try music()
    let outcome = try place.run("rules", "add", "Track", "--references", "albumID=Albm")
    #expect(outcome.code == 3)
    #expect(outcome.err.contains("There is no model Albm; did you mean Album?"))
  }

  @Test(arguments: ["npos", "NPOS", "t.CHECK", "T.n.range", "t.n.RANGE"])
  func aTakenNameIsAUsageErrorAlsoInADryRun(name: String) throws {
    let place = try table()
    try place.run("rules", "add", "T", "--range", "n=..5000")
    for ending in [["-n"], []] {
      let outcome = try place.run(
        ["rules", "add", "T", "--check", "n >= -1", "--name", name] + ending)
      #expect(outcome.code == 64)
      #expect(outcome.err.contains("\nhint: choose another --name"), "\(outcome)")
    }
  }

  @Test func aRuleInSwiftKeepsItsName() throws {
    let place = try music()
    let words = ["rules", "add", "Album", "--check", "1=1", "--name", "Album.notBeforeArtist"]
    for ending in [["-n"], []] {
      let outcome = try place.run(words + ending)
      #expect(outcome.code == 64)
      #expect(outcome.err.contains("A validator is already called Album.notBeforeArtist"))
    }
    for ending in [["-n"], []] {
      let outcome = try place.run(["rules", "drop", "Album.notBeforeArtist"] + ending)
      #expect(outcome.code == 1)
      #expect(
        outcome.err.contains("The rule Album.notBeforeArtist is a validator in Swift"), "\(outcome)"
      )
    }
  }

  @Test(arguments: [
    ["rules", "add", "T", "--range", "n=1.."],
    ["rules", "add", "T", "--check", "n >= 1", "--name", "npos"],
    ["rules", "add", "T", "--check", "n >"], ["rules", "drop", "npos"],
    ["rules", "drop", "nothing"], ["rules", "rebuild"], ["bindings", "drop", "nothing"],
    ["bindings", "rebuild"], ["update", "T", "1", "n=abc"], ["update", "T", "x", "n=1"],
    ["update", "T", "--where", "n >", "n=1"], ["insert", "T", "n=abc"], ["delete", "T", "x"],
    ["delete", "T", "--where", "n >"],
  ])
  func aRefusedRuleLeavesTheFileUnchanged(words: [String]) throws {
    let place = try table()
    #expect(try RawDatabase(place.path("t.db")).value("PRAGMA journal_mode = DELETE") == "delete")
    let before = try Data(contentsOf: place.url("t.db"))
    let outcome = try place.run(words)
    let isIdle = words.last == "rebuild"
    #expect((outcome.code == 0) == isIdle, "\(outcome)")
    #expect(try stored(place) == "delete")
    #expect(try Data(contentsOf: place.url("t.db")) == before)
  }
}
