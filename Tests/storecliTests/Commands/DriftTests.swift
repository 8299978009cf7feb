import Testing

/// Tables that differ from the catalog are not reported as a usage error.
@Suite(.tags(.process)) struct DriftTests {
  @Test(arguments: [
    ["validate"], ["validate", "T"], ["query", "T"], ["get", "T", "1"],
    ["update", "T", "1", "s=y"],
    ["insert", "T", "s=y"], ["delete", "T", "1"], ["rules", "add", "T", "--required", "n"],
    ["rules", "add", "T", "--check", "n > 0"],
  ])
  func aRenamedColumnIsAFailureOfTheFile(words: [String]) throws {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("t.db"))
    try raw.execute("CREATE TABLE T (id INTEGER PRIMARY KEY, n INTEGER, s TEXT)")
    try raw.execute("INSERT INTO T VALUES (1, 1, 'x')")
    try place.run("adopt", "-d", "t.db")
    try raw.execute("ALTER TABLE T RENAME COLUMN n TO m")
    let outcome = try place.run(words + ["-d", "t.db"])
    #expect(outcome.code == 1)
    // `validate` reports the model and continues with the next one.
    let counted = words[0] == "validate" ? "0 models checked, 0 rules broken\n" : ""
    #expect(
      outcome.err == """
        \(counted)error[outdatedModel]: The table of an adopted model has changed. T: The column n \
        is gone. The column m is new. Refresh the model with Store.refreshAdopted or storecli adopt \
        --refresh.
        hint: storecli adopt --refresh T -d t.db

        """, "\(outcome)")
  }

  @Test func aDroppedTableIsAFailureOfTheFile() throws {
    let place = try Workplace()
    try place.makeMusic()
    try RawDatabase(place.path("music.store")).execute(
      "PRAGMA foreign_keys = OFF; DROP TABLE Track")
    for words in [["query", "Track"], ["rules", "add", "Track", "--required", "title"]] {
      let outcome = try place.run(words)
      #expect(
        outcome
          == Outcome(
            code: 1, out: "",
            err: """
              error[invalidQuery]: The tables are not as the file's catalog says: \
              no such table: Track.
              hint: storecli doctor

              """))
    }
    let mine = try place.run("query", "--sql", "select * from Track")
    #expect(mine.code == 64 && mine.err.contains("no such table: Track"), "\(mine)")
  }
}
