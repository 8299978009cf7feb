import Testing

@Suite(.tags(.process)) struct RulesCommandTests {
  private func place() throws -> Workplace {
    let place = try Workplace()
    try place.makeMusic()
    return place
  }

  @Test func existingViolationsAreShownBeforeARuleIsAdded() throws {
    let place = try place()
    try place.run("update", "Track", "1", "seconds=10")
    try place.run("update", "Track", "2", "seconds=11")
    let refused = try place.run(
      "rules", "add", "Track", "--range", "seconds=20..", "--name", "Track.long")
    #expect(refused.code == 4)
    #expect(refused.out == "")
    #expect(
      refused.err.hasPrefix(
        """
        error[rejected]: The rule Track.long was not added: 2 records break it already. \
        Change those first; nothing was changed.
          Track 1.seconds  must be 20 or greater  (rule Track.long)
          Track 2.seconds  must be 20 or greater  (rule Track.long)

        """))
  }

  @Test func aRuleIsAddedListedObeyedAndDropped() throws {
    let place = try place()
    #expect(
      try place.run(
        "rules", "add", "Track", "--check", "seconds <> 13", "--name", "Track.lucky",
        "--message", "must not bring bad luck")
        == Outcome(code: 0, out: "", err: "added Track.lucky: Track must not bring bad luck\n"))
    #expect(
      try place.run("rules", "list", "Track", "-q").out == """
        Track.title.required\tTrack\ttitle\terror\ttable\tmust have a value
        Track.title.length\tTrack\ttitle\terror\ttable\tmust have 1 to 120 characters
        Track.seconds.required\tTrack\tseconds\terror\ttable\tmust have a value
        Track.seconds.range\tTrack\tseconds\terror\ttable\tmust be 1 to 7200
        Track.albumID.required\tTrack\talbumID\terror\ttable\tmust have a value
        Track.albumID.reference\tTrack\talbumID\terror\ttable\tmust name an existing record of Album
        Track.lucky\tTrack\t\terror\tadded\tmust not bring bad luck

        """)
    let refused = try place.run("update", "Track", "1", "seconds=13")
    #expect(refused.code == 4)
    #expect(refused.err.contains("must not bring bad luck"))
    #expect(try place.run("rules", "drop", "Track.lucky").err == "dropped Track.lucky\n")
    #expect(try place.run("update", "Track", "1", "seconds=13").code == 0)
    #expect(try place.run("rules", "drop", "Track.lucky").code == 3)
    #expect(try place.run("rules", "drop", "Track.title.length").code == 1)
  }

  @Test func aDryRunAddsNothing() throws {
    let place = try place()
    #expect(
      try place.run("rules", "add", "Track", "--required", "title", "-n")
        == Outcome(
          code: 0, out: "",
          err: "would be added: Track.title.required: Track.title must have a value\n"
            + "dry run: nothing was added\n"))
    for ending in [["-n"], []] {
      #expect(
        try place.run(
          ["rules", "add", "Track", "--unique", "albumID", "--keep-violations"] + ending
        ).code == 4)
    }
    #expect(
      try place.run("rules", "list", "Track", "--fields", "rule", "-q").out == """
        Track.title.required
        Track.title.length
        Track.seconds.required
        Track.seconds.range
        Track.albumID.required
        Track.albumID.reference

        """)
  }

  @Test func incompleteOrContradictoryRuleOptionsAreRefused() throws {
    let place = try place()
    for words in [
      [], ["--required", "title", "--check", "1"], ["--required", "title", "--per", "id"],
      ["--required", "title", "--where", "1"], ["--length", "title=x"],
    ] {
      #expect(try place.run(["rules", "add", "Track"] + words).code == 64)
    }
    #expect(
      try place.run("rules", "add", "Track", "--required", "titel").err.contains("title"))
  }

  @Test(arguments: [
    ["--length", "title=5..2"], ["--bytes", "title=5..2"], ["--range", "seconds=5..2"],
    ["--range", "seconds=0.5..0.2"],
  ])
  func aRangeStartsWithItsLowerBound(words: [String]) throws {
    let place = try place()
    let outcome = try place.run(["rules", "add", "Track"] + words)
    #expect(outcome.code == 64)
    #expect(outcome.err.contains("\(words[0]) takes the lower bound first"))
  }

  @Test func anotherRuleOfTheSameNameIsNotReplaced() throws {
    let place = try place()
    let first = ["rules", "add", "Track", "--check", "seconds <> 13"]
    #expect(try place.run(first).code == 0)
    #expect(try place.run(first + ["--message", "must not bring bad luck"]).code == 0)
    let unique = ["rules", "add", "Track", "--unique", "title", "--where", "seconds < 0"]
    #expect(try place.run(unique).code == 0)
    #expect(
      try place.run("rules", "add", "Track", "--check", "seconds <> 14")
        == Outcome(
          code: 64, out: "",
          err: """
            error[usage]: The rule Track.check exists already: Track must not bring bad luck.
            hint: choose another --name, or storecli rules drop Track.check

            """))
    for words in [
      ["Track", "--unique", "title", "--where", "seconds < 1"],
      ["Album", "--required", "title", "--name", "Track.check"],
    ] {
      #expect(try place.run(["rules", "add"] + words).code == 64, "\(words)")
    }
    #expect(
      try place.run("rules", "list", "Track", "--fields", "rule,message", "-q").out == """
        Track.title.required\tmust have a value
        Track.title.length\tmust have 1 to 120 characters
        Track.seconds.required\tmust have a value
        Track.seconds.range\tmust be 1 to 7200
        Track.albumID.required\tmust have a value
        Track.albumID.reference\tmust name an existing record of Album
        Track.check\tmust not bring bad luck
        Track.title.unique\tmust be unique where seconds < 0

        """)
  }

  @Test func theErrorListsEveryRuleThatTheRecordBreaks() throws {
    let place = try place()
    let refused = try place.run("insert", "Track", "id=1", "title=", "seconds=0", "albumID=999")
    #expect(
      refused
        == Outcome(
          code: 4, out: "",
          err: """
            error[rejected]: Nothing was changed: 4 rules refuse it.
              Track 1.title  must have 1 to 120 characters  (rule Track.title.length)
              Track 1.seconds  must be 1 to 7200  (rule Track.seconds.range)
              Track 1.id  must be unique; another Track has the same value  (rule Track.key)
              Track 1.albumID  must name an existing Album  (rule Track.albumID.reference)
            hint: storecli models Track

            """))
    try place.write("id,title,seconds,albumID\n900000,\"\",0,1\n", to: "tracks.csv")
    #expect(
      try place.run("import", "tracks.csv", "--model", "Track", "--on-error", "skip").err.contains(
        "line 2: title must have 1 to 120 characters; seconds must be 1 to 7200"))
  }

  @Test func aJSONErrorHasEveryDetail() throws {
    let place = try place()
    let refused = try place.run("update", "Track", "1", "seconds=0", "--json")
    #expect(
      refused.err.contains(
        #""violations":[{"kind":"check","model":"Track","id":1,"fields":["seconds"],"rule":"Track.seconds.range","message":"must be 1 to 7200","remedy":"Change the value.","severity":"error"}],"violationCount":1"#
      ))
  }

  @Test func oneRefusalNamesItsRecordAndItsRule() throws {
    let place = try place()
    #expect(
      try place.run("update", "Track", "1", "seconds=0")
        == Outcome(
          code: 4, out: "",
          err: """
            error[rejected]: Nothing was changed: Track 1.seconds must be 1 to 7200 \
            (rule Track.seconds.range).
            hint: storecli models Track

            """))
    try RawDatabase(place.path("music.store")).execute(
      "CREATE TRIGGER guard BEFORE DELETE ON Track BEGIN SELECT RAISE(ABORT, 'keep it'); END")
    #expect(
      try place.run("delete", "Track", "1").err.hasPrefix(
        "error[rejected]: A trigger refused the change: keep it (trigger guard)\n"))
  }

  @Test func addedRulesAreDescribedWithTheirModel() throws {
    let place = try place()
    try place.run("rules", "add", "Track", "--check", "seconds <> 13", "--message", "no luck")
    try place.run(
      "rules", "add", "Track", "--range", "albumID=..500", "--severity", "warning")
    #expect(
      try place.run("models", "--fields", "model,rules", "-q").out
        == "Album\t7\nArtist\t4\nTrack\t8\n")
    let sheet = try place.run("models", "Track", "--fields", "field,rules")
    #expect(sheet.out.contains("albumID\tmust be 500 or less\n"), "\(sheet)")
    #expect(sheet.err.contains("added rule Track.check: no luck\n"))
    #expect(
      sheet.err.contains("added warning Track.albumID.range (albumID): must be 500 or less\n"))
    #expect(
      try place.run("models", "Track", "--json").out.contains(
        #""addedRules":[{"name":"Track.albumID.range","fields":["albumID"],"kind":"check","message":"must be 500 or less","severity":"warning"},{"name":"Track.check","fields":[],"kind":"check","message":"no luck","severity":"error"}]"#
      ))
  }

  @Test func listsAreArraysForPrograms() throws {
    let place = try place()
    try place.run(
      "rules", "add", "Track", "--unique", "albumID,seconds", "--severity", "warning")
    #expect(
      try place.run("rules", "list", "Track", "--ndjson", "-q").out.hasSuffix(
        #"{"rule":"Track.albumID-seconds.unique","model":["Track"],"fields":["albumID","seconds"],"severity":"warning","place":"added","message":"must be unique together"}"#
          + "\n"))
    let found = try place.run("validate", "Track", "--ndjson", "-q")
    #expect(found.out.contains(#""fields":["albumID","seconds"]"#), "\(found)")
    #expect(found.out.contains(#""first":["#) && !found.out.contains(#""first":[""#), "\(found)")
  }

  @Test func validateListsWarnings() throws {
    let place = try place()
    try place.run("update", "Track", "3", "seconds=10")
    #expect(
      try place.run(
        "rules", "add", "Track", "--range", "seconds=20..", "--severity", "warning",
        "--name", "Track.short"
      ).err.hasSuffix("broken by 1 record: 3\n"))
    let outcome = try place.run("validate", "Track", "-q")
    #expect(outcome.code == 2)
    #expect(outcome.out == "Track\tseconds\tTrack.short\twarning\tmust be 20 or greater\t1\t3\n")
  }
}
