import Foundation
import Testing

/// Records that refer to others, before or after them, and fields that the database computes.
@Suite(.tags(.process)) struct ImportReferencesTests {
  private func place(_ schema: String) throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("t.db")).execute(schema)
    place.environment["STORECLI_DB"] = place.path("t.db")
    try #require(try place.run("adopt").code == 0)
    return place
  }

  private func employees() throws -> Workplace {
    try place(
      "CREATE TABLE Employee(id INTEGER PRIMARY KEY, boss INTEGER REFERENCES Employee(id))")
  }

  private func ids(_ place: Workplace) throws -> String {
    try place.run("query", "Employee", "--fields", "id", "-q").out
      .replacingOccurrences(of: "\n", with: " ")
  }

  @Test(arguments: [[], ["--upsert"], ["--on-error", "skip"], ["--batch", "2"], ["-n"]])
  func aRecordMayComeBeforeTheOneItRefersTo(words: [String]) throws {
    let place = try employees()
    let outcome = try place.run(
      ["import", "-", "--model", "Employee"] + words, input: "id,boss\n1,2\n2,\n3,4\n4,3\n")
    #expect(outcome.code == 0 && outcome.err.contains("4 read  4 inserted  0"), "\(outcome)")
    #expect(try ids(place) == (words == ["-n"] ? "" : "1 2 3 4 "))
    try place.write("id,boss\n11,12\n12,\n", to: "more.csv")
    #expect(try place.run("insert", "Employee", "--from", "more.csv").code == 0)
  }

  @Test(arguments: [[], ["-n"]])
  func aReferenceToNoRecordStopsTheImport(words: [String]) throws {
    let place = try employees()
    let outcome = try place.run(
      ["import", "-", "--model", "Employee"] + words, input: "id,boss\n1,2\n2,\n3,30\n4,40\n")
    #expect(
      outcome
        == Outcome(
          code: 4, out: "",
          err: """
            error[rejected]: Nothing was changed: 2 records are refused.
              Employee 3.boss  must name an existing Employee  (rule Employee.boss.reference)
              Employee 4.boss  must name an existing Employee  (rule Employee.boss.reference)
              nothing was written
            hint: storecli models Employee

            """))
    #expect(try ids(place) == "")
  }

  /// 5 and 6 refer to each other, and 7 to 8, which refers to nothing.
  @Test func recordsThatReferToARejectedRecordAreRejectedToo() throws {
    let place = try employees()
    let outcome = try place.run(
      "import", "-", "--model", "Employee", "--on-error", "collect", "--rejects", "bad.csv",
      input: "id,boss\n1,2\n2,\n5,6\n6,5\n7,8\n8,80\n")
    #expect(outcome.code == 4 && outcome.err.hasPrefix("6 read  4 inserted  2 rejected"))
    #expect(try ids(place) == "1 2 5 6 ")
    let rejects = try place.contents(of: "bad.csv").split(separator: "\n").sorted()
    #expect(
      rejects == [
        "$line,$reason,id,boss", "6,boss must name an existing Employee,7,8",
        "7,boss must name an existing Employee,8,80",
      ])
  }

  /// First the records that refer to nothing are rejected, then the records that refer to them.
  /// Records 2
  /// and 3 refer to each other and to records that are there.
  @Test func chainsOfReferencesAreRejectedInTheirOrderWithTheirReasons() throws {
    let place = try place(
      """
      CREATE TABLE Tag(code TEXT PRIMARY KEY, up TEXT REFERENCES Tag);
      CREATE TABLE Node(
        id INTEGER PRIMARY KEY, a INTEGER REFERENCES Node, b INTEGER REFERENCES Node,
        t TEXT REFERENCES Tag(code));
      INSERT INTO Node VALUES (1, NULL, NULL, NULL);
      """)
    try place.write("code,up\nx,missing\ny,x\nz,\n", to: "Tag.csv")
    try place.write(
      "id,a,b,t\n7,6,4,y\n6,5,,\n5,99,,\n4,5,5,\n3,1,2,z\n2,3,,\n9,8,,\n8,9,,y\n", to: "Node.csv")
    let both = try place.run("import", "Tag.csv", "Node.csv", "--on-error", "skip")
    #expect(both.code == 4 && both.err.hasPrefix("11 read  3 inserted  8 rejected"), "\(both)")
    #expect(
      both.err.hasSuffix(
        """
          Tag line 2: up must name an existing Tag
          Node line 4: a must name an existing Node
          Tag line 3: up must name an existing Tag
          Node line 3: a must name an existing Node
          Node line 5: b must name an existing Node; a must name an existing Node
          and 3 more

        """), "\(both)")
    #expect(try place.run("query", "Node", "--fields", "id", "-q").out == "1\n2\n3\n")
    try place.run("delete", "Node", "--where", "id > 1", "--yes", "-q")
    let collected = try place.run(
      "import", "Node.csv", "--on-error", "collect", "--rejects", "r.csv", "--upsert")
    #expect(collected.code == 4)
    #expect(
      collected.err.hasSuffix(
        """
          line 2: t must name an existing Tag
          line 4: a must name an existing Node
          line 9: t must name an existing Tag
          line 3: a must name an existing Node
          line 5: b must name an existing Node; a must name an existing Node
          and 1 more
        rejects: r.csv

        """), "\(collected)")
    #expect(
      try place.contents(of: "r.csv")
        == """
        $line,$reason,id,a,b,t
        2,t must name an existing Tag,7,6,4,y
        4,a must name an existing Node,5,99,,
        9,t must name an existing Tag,8,9,,y
        3,a must name an existing Node,6,5,,
        5,b must name an existing Node; a must name an existing Node,4,5,5,
        8,a must name an existing Node,9,8,,

        """)
  }

  /// Records from before the import stay, so other records may still refer to them.
  @Test func aRefusedUpdateDoesNotRejectRecordsThatReferToIt() throws {
    let place = try employees()
    try RawDatabase(place.path("t.db")).execute("INSERT INTO Employee VALUES (5, NULL)")
    let outcome = try place.run(
      "import", "-", "--model", "Employee", "--on-error", "skip", "--upsert",
      input: "id,boss\n6,7\n5,99\n7,5\n")
    #expect(
      outcome.err.hasPrefix("3 read  2 inserted  0 updated  0 unchanged  1 rejected"),
      "\(outcome)")
    #expect(try ids(place) == "5 6 7 ")
  }

  /// The first line waits for its reference; the later line of the same key has to come out.
  @Test func theLaterOfTwoLinesIsKeptAlthoughTheFirstOneWaited() throws {
    let place = try place(
      "CREATE TABLE Node(id INTEGER PRIMARY KEY, up INTEGER REFERENCES Node(id), v TEXT)")
    let outcome = try place.run(
      ["import", "-", "--model", "Node", "--upsert", "--on-error", "skip"],
      input: "id,up,v\n1,99,old\n1,,new\n99,,x\n")
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try place.run("get", "Node", "1", "--fields", "v", "-q").out == "new\n")
  }

  /// References that were broken before, more of them than an error lists by default.
  @Test func brokenReferencesOfOthersDoNotStopAnImportThatSkips() throws {
    let place = try employees()
    try RawDatabase(place.path("t.db")).execute(
      """
      PRAGMA foreign_keys = OFF;
      WITH n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 1149)
      INSERT INTO Employee SELECT i, i + 5000 FROM n;
      """)
    let outcome = try place.run(
      ["import", "-", "--model", "Employee", "--on-error", "skip"], input: "id,boss\n2000,99\n2,\n")
    #expect(outcome.err.hasPrefix("2 read  1 inserted  1"), "\(outcome)")
  }

  @Test func severalFilesAreOneTransaction() throws {
    let place = try place(
      """
      CREATE TABLE Album(id INTEGER PRIMARY KEY, artist INTEGER NOT NULL REFERENCES Artist);
      CREATE TABLE Artist(id INTEGER PRIMARY KEY, best INTEGER REFERENCES Album);
      """)
    try place.write("id,artist\n1,7\n2,7\n", to: "Album.csv")
    try place.write("{\"id\":7,\"best\":2}\n", to: "Artist.ndjson")
    #expect(try place.run("import", "Album.csv").code == 4)
    let outcome = try place.run("import", "Album.csv", "Artist.ndjson")
    #expect(outcome.code == 0 && outcome.err.hasPrefix("3 read  3 inserted  0"), "\(outcome)")
    try place.write("x\n", to: "people.csv")
    #expect(
      try place.run("import", "people.csv").err.hasSuffix(
        "hint: add --model MODEL; without it, the file's name is the model's. "
          + "--new-model NAME makes a model\n"))
    for words in [
      ["Album.csv", "Artist.ndjson", "--model", "Album"], ["-"],
      ["Album.csv", "Artist.ndjson", "--on-error", "collect"],
    ] {
      #expect(try place.run(["import"] + words).code == 64, "\(words)")
    }
  }

  @Test func computedFieldsAreComparedAndNotWritten() throws {
    let place = try place(
      "CREATE TABLE Line(id INTEGER PRIMARY KEY, n INTEGER, twice INTEGER AS (n * 2))")
    let good = try place.run(
      "import", "-", "--model", "Line", input: "id,n,twice\n1,5,10\n2,6,\n")
    #expect(good.code == 0)
    #expect(
      good.err.hasSuffix("computed by the database, so compared and not written: twice\n"))
    let input = "{\"id\":3,\"n\":1,\"twice\":3}\n{\"id\":4,\"n\":1,\"twice\":2}\n"
    #expect(
      try place.run("import", "-", "--model", "Line", input: input)
        == Outcome(
          code: 4, out: "",
          err: """
            error[invalidValue]: standard input: line 1: twice is computed by the database as 2; \
            the input has 3.
              nothing was written
            hint: add --ignore-extra to leave computed fields unread

            """))
    let skipped = try place.run(
      "import", "-", "--model", "Line", "--on-error", "skip", input: input)
    #expect(skipped.err.hasPrefix("2 read  1 inserted  1 rejected"))
    #expect(
      try place.run("query", "Line", "--fields", "id,twice", "-q").out == "1\t10\n2\t12\n4\t2\n")
    let ignored = try place.run(
      "import", "-", "--model", "Line", "--ignore-extra", input: "id,n,twice\n5,1,x\n")
    #expect(ignored.code == 0)
  }

  @Test func aMissingKeyAndAReferencedRecordAreNamed() throws {
    let place = try place(
      """
      CREATE TABLE Tag(code TEXT PRIMARY KEY, note TEXT);
      CREATE TABLE Use(
        id INTEGER PRIMARY KEY, tag TEXT REFERENCES Tag, other INTEGER REFERENCES Use);
      INSERT INTO Tag VALUES ('a', NULL), ('b', NULL);
      INSERT INTO Use VALUES (1, 'b', NULL);
      """)
    #expect(
      try place.run("insert", "Tag", "note=x")
        == Outcome(
          code: 4, out: "",
          err: """
            error[rejected]: Nothing was changed: Tag.code must have a value (rule Tag.code.required).
            hint: storecli models Tag

            """))
    #expect(
      try place.run("delete", "Tag", "--where", "code >= 'a'", "--yes")
        == Outcome(
          code: 4, out: "",
          err: """
            error[rejected]: Nothing was changed: Tag b is still referred to through Use.tag \
            (rule Tag.reference). Delete or change Use 1 first.
            hint: storecli models Tag

            """))
  }

  @Test func aUniqueRuleReportsThatItCannotKeepExistingViolations() throws {
    let place = try place(
      "CREATE TABLE Tag(id INTEGER PRIMARY KEY, note TEXT); INSERT INTO Tag VALUES (1,'x'),(2,'x')")
    let outcome = try place.run("rules", "add", "Tag", "--unique", "note", "--keep-violations")
    #expect(outcome.code == 4)
    #expect(
      outcome.err.hasPrefix(
        """
        error[rejected]: The rule Tag.note.unique was not added: 2 records break it already. \
        A unique rule cannot keep them, not even with --keep-violations. Give them other values \
        first; nothing was changed.

        """), "\(outcome)")
  }
}
