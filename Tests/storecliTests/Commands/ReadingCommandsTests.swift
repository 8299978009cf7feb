import Foundation
import Testing

@Suite(.tags(.process)) struct ReadingCommandsTests {
  @Test func modelsListsWhatTheStoreHas() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run("models", "-q")
        == Outcome(
          code: 0,
          out: """
            Album\t120\t5\tid\t7\t1\tdeclared
            Artist\t40\t3\tid\t4\t0\tdeclared
            Track\t1201\t4\tid\t6\t0\tdeclared

            """, err: ""))
  }

  @Test func modelsDescribesOneModel() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run("models", "Album", "-o", "table")
        == Outcome(
          code: 0,
          out: """
            FIELD       TYPE     KEY  NULL  DEFAULT  FOLLOWS                 RULES
            id          integer  key  no
            title       text          no                                     must have 1 to 120 characters
            year        integer       no                                     must be 1900 to 2100
            artistID    integer       no             Artist, delete cascade
            artistName  text          yes            Artist.name (binding)

            """,
          err: """
            Album   120 records
            binding Album.artistName: Album.artistName = Artist.name through Album.artistID
            validator in Swift: Album.notBeforeArtist

            """))
  }

  @Test func queryFiltersSortsAndLimits() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run(
        "query", "Artist", "founded > 1990 and name like 'The %'", "--sort", "-founded,name",
        "--limit", "2", "--fields", "id,founded", "--json")
        == Outcome(
          code: 0, out: "[\n{\"id\":40,\"founded\":1999},\n{\"id\":8,\"founded\":1999}\n]\n",
          err: "2 of 6; --all shows the rest\n"))
    #expect(
      try place.run(
        "query", "Artist", "founded > 1990 and name like 'The %'", "--limit", "2", "--offset", "1"
      ).err == "records 2 to 3 of 6\n")
    #expect(
      try place.run("query", "Track", "seconds between 100 and 110", "--count").out == "39\n")
  }

  @Test func aPipeGetsPlainLinesAndTheFormatAskedFor() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run("get", "Album", "1", "--header").out
        == "id\ttitle\tyear\tartistID\tartistName\n1\tLunar Rivers\t2002\t1\tNina & the Tides\n")
    #expect(
      try place.run("get", "Album", "1", "--csv", "--fields", "title,id").out
        == "title,id\r\nLunar Rivers,1\r\n")
    #expect(
      try place.run("get", "Album", "1", "-o", "table").out == """
        Album 1
          title       Lunar Rivers
          year        2002
          artistID    1
          artistName  Nina & the Tides

        """)
  }

  @Test func explainShowsTheStatementAndItsPlan() throws {
    let place = try Workplace()
    try place.makeMusic()
    let shown = try place.run("query", "Artist", "id = 3", "--explain").out
    #expect(
      shown.replacing(/\d+ steps/, with: "N steps") == """
        SELECT "id", "name", "founded"
        FROM "Artist"
        WHERE "id" = ?
        ORDER BY "id"
        -- arguments: 3
        -- key: finds rows of Artist by rowid=?
        -- cost: 1 row, N steps of SQLite, 0 row steps in full scans
        -- no index needed: the statement is cheap

        """)
  }

  @Test func rawStatementsReadAndNeverWrite() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run("query", "--sql", "select count(*) as n from Artist", "--json").out
        == "[\n{\"n\":40}\n]\n")
    let refused = try place.run("query", "--sql", "delete from Artist")
    #expect(refused.code == 64)
    #expect(refused.err.hasPrefix("error[usage]: --sql runs only statements that read"))
    #expect(try place.run("query", "Artist", "--count").out == "40\n")
  }

  @Test func validateAndDoctorFindRecordsThatBypassedTheRules() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(try place.run("validate", "-q") == Outcome(code: 0, out: "", err: ""))
    #expect(try place.run("doctor", "-q").code == 0)
    let raw = try RawDatabase(place.path("music.store"))
    try raw.execute(
      """
      PRAGMA ignore_check_constraints = ON;
      UPDATE Track SET title = '' WHERE id IN (3, 5);
      UPDATE Track SET albumID = 9999 WHERE id = 7;
      """)
    #expect(
      try place.run("validate", "Track", "-q")
        == Outcome(
          code: 2,
          out: """
            Track\ttitle\tTrack.title.length\terror\tmust have 1 to 120 characters\t2\t3 5
            Track\talbumID\tTrack.albumID.reference\terror\tmust name an existing record of Album\t1\t7

            """, err: ""))
    #expect(try place.run("doctor", "-q").code == 2)
  }

  @Test func bindingsAreListed() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run("bindings", "list", "--ndjson", "-q").out
        == "{\"binding\":\"Album.artistName\",\"model\":\"Album\",\"field\":\"artistName\","
        + "\"formula\":\"Album.artistName = Artist.name through Album.artistID\"}\n")
  }

  @Test func everyHelpTopicHasText() throws {
    let place = try Workplace()
    #expect(
      try place.run("help", "exit-codes")
        == Outcome(
          code: 0,
          out: """
              0  ok
              1  failed
              2  a check found something
              3  not found
              4  rejected by a validator or a constraint
              5  database busy or locked, try again
              6  schema newer than this program
             64  wrong usage
            130  interrupted
            143  ended by SIGTERM

            """, err: ""))
    for topic in ["environment", "formats", "predicates"] {
      #expect(try place.run("help", topic).code == 0)
    }
    #expect(
      try place.run("help", "predicate")
        == Outcome(
          code: 64, out: "",
          err: "error[usage]: There is no command predicate; did you mean predicates?\n"
            + "hint: storecli help predicates\n"))
  }

  @Test(arguments: ["bindings", "rules", "consumers"])
  func aNounWithoutAVerbListsItsObjects(noun: String) throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(try place.run(noun) == place.run(noun, "list"))
    let typo = try place.run(noun, "lst")
    // Rules are listed by model, so there the word is one.
    let expected = noun == "rules" ? "There is no model lst." : "did you mean list?"
    #expect(typo.err.contains(expected), "\(typo)")
    #expect(try place.run("journal").err.contains("the journal is off"))
  }

  @Test(arguments: [
    ["query", "Track", "--limit", "-1"], ["query", "Track", "--offset", "-1"],
    ["get", "Track", "1", "--at", "-1"], ["history", "--limit", "-1"],
    ["watch", "--count", "-1"], ["journal", "trim", "--keep", "-1"],
  ])
  func aNegativeNumberIsRefusedInWords(words: [String]) throws {
    let refused = try Workplace().run(words)
    #expect(refused.code == 64 && refused.err.contains("or more"), "\(refused)")
  }

  @Test func everyShellAcceptsItsCompletionScript() throws {
    let place = try Workplace()
    let script = try place.run("completions", "bash")
    #expect(script.code == 0)
    try place.write(script.out + "\ncomplete -p storecli\n", to: "completion.bash")
    let taken = try place.runProcess(launching: ["/bin/bash", "completion.bash"])
    #expect(taken.code == 0 && taken.out.hasSuffix(" storecli\n"), "\(taken)")
    #expect(try place.run("completions", "tcsh").code == 64)
  }

  @Test func aShellCompletesTheModelsOfTheDatabase() throws {
    let place = try Workplace()
    try place.makeMusic()
    let directory = URL(fileURLWithPath: Workplace.program).deletingLastPathComponent().path
    let other = try Workplace()
    try RawDatabase(other.path("t.db")).execute("CREATE TABLE Tee (id INTEGER PRIMARY KEY)")
    try #require(try other.run("adopt", "-d", "t.db").code == 0)
    let script = try place.run("completions", "bash").out
    for (words, found) in [
      (["get", ""], "Album Artist Track"), (["rules", "list", "A"], "Album Artist"),
      (["update", "T"], "Track"), (["query", "-d", other.path("t.db"), ""], "Tee"),
      (["query", "-d", other.path("none.db"), ""], ""),
    ] {
      let line = (["storecli"] + words).joined(separator: " ")
      try place.write(
        script + """

          PATH='\(directory)':$PATH
          COMP_WORDS=(storecli \(words.map { "'\($0)'" }.joined(separator: " ")))
          COMP_CWORD=\(words.count) COMP_LINE='\(line)' COMP_POINT=\(line.utf8.count)
          _storecli storecli '\(words[words.count - 1])' '\(words[words.count - 2])' 2>/dev/null
          echo "${COMPREPLY[@]}" | grep -o '[A-Z][a-z]*' | xargs
          """, to: "complete.bash")
      let shown = try place.runProcess(launching: ["/bin/bash", "complete.bash"])
      #expect(shown.out == found + "\n", "\(words) \(shown)")
    }
  }
}
