import Testing

@Suite(.tags(.process)) struct WritingCommandsTests {
  @Test func anUpdateReportsBoundFieldsWithTheirOwnOrigin() throws {
    let place = try Workplace()
    try place.makeMusic()
    let outcome = try place.run("update", "Artist", "2", "name=Somebody", "--ndjson", "-q")
    let bound = (4...6).map {
      #"{"op":"update","model":"Album","id":\#($0),"changes":{"artistName":{"old":"The Velvet Voices","new":"Somebody"}},"origin":"binding:Album.artistName","cause":{"op":"update","model":"Artist","id":2,"fields":["name"]}}"#
    }
    let lines =
      [
        #"{"op":"update","model":"Artist","id":2,"changes":{"name":{"old":"The Velvet Voices","new":"Somebody"}},"origin":"user"}"#
      ] + bound
    #expect(outcome == Outcome(code: 0, out: lines.joined(separator: "\n") + "\n", err: ""))
  }

  @Test func aPersonReadsOneLineForEachChange() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run("update", "Artist", "1", "name=Nina")
        == Outcome(
          code: 0,
          out: """
            ~ Artist 1  name: "Nina & the Tides" -> "Nina"
            ~ Album 1  artistName: "Nina & the Tides" -> "Nina"   (binding Album.artistName)
            ~ Album 2  artistName: "Nina & the Tides" -> "Nina"   (binding Album.artistName)
            ~ Album 3  artistName: "Nina & the Tides" -> "Nina"   (binding Album.artistName)

            """,
          err: "1 Artist updated; by binding Album.artistName 3 Album updated\n"))
  }

  @Test func insertsHaveOnlyNewAndDeletesOnlyOld() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run("insert", "Artist", "name=Nina", "founded=1954", "--ndjson").out
        == #"{"op":"insert","model":"Artist","id":41,"changes":{"id":{"new":41},"name":{"new":"Nina"},"founded":{"new":1954}},"origin":"user"}"#
        + "\n")
    #expect(
      try place.run("delete", "Artist", "41", "--ndjson").out
        == #"{"op":"delete","model":"Artist","id":41,"changes":{"id":{"old":41},"name":{"old":"Nina"},"founded":{"old":1954}},"origin":"user"}"#
        + "\n")
  }

  @Test func aDryRunOfADeleteCountsTheCascadeAndWritesNothing() throws {
    let place = try Workplace()
    try place.makeMusic()
    let outcome = try place.run("delete", "Artist", "3", "--dry-run")
    #expect(outcome.code == 0)
    #expect(
      outcome.err
        == "1 Artist deleted; by cascade 3 Album deleted; by cascade 30 Track deleted\n"
        + "dry run: nothing was written\n")
    #expect(outcome.out.split(separator: "\n").count == 34)
    #expect(try place.run("query", "Track", "--count").out == "1201\n")
  }

  @Test func manyRecordsAreNotChangedWithoutConfirmation() throws {
    let place = try Workplace()
    try place.makeMusic()
    let asked = try place.run("delete", "Track", "--where", "albumID = 7")
    #expect(
      asked
        == Outcome(
          code: 64, out: "",
          err: "error[usage]: The changes are: 10 Track deleted. Continue? "
            + "The command runs without a terminal, so it cannot ask: add --yes, or -n to see what would change.\n"
        ))
    #expect(try place.run("delete", "Track", "--where", "albumID = 7", "--yes").code == 0)
    #expect(try place.run("query", "Track", "albumID = 7", "--count").out == "0\n")
    #expect(
      try place.run("update", "Track", "--where", "albumID = 8", "seconds=100", "--yes").err
        == "10 Track updated\n")
  }

  @Test func valuesAreTypedByTheirFields() throws {
    let place = try Workplace()
    try place.makeMusic()
    try place.write("from a file", to: "title.txt")
    let before = try place.run("get", "Track", "1", "--fields", "seconds").out
    let seconds = try #require(Int(before.dropLast()))
    try place.run("update", "Track", "1", "seconds+=5", "title=@title.txt")
    #expect(
      try place.run("get", "Track", "1", "--fields", "title,seconds").out
        == "from a file\t\(seconds + 5)\n")
    try place.run("update", "Track", "1", "title=-", input: "from standard input")
    #expect(try place.run("get", "Track", "1", "--fields", "title").out == "from standard input\n")
    try place.run("update", "Track", "1", "title:=@literal")
    #expect(try place.run("get", "Track", "1", "--fields", "title").out == "@literal\n")
    try place.run("update", "Album", "1", "artistName:null", "--skip-code-validators")
    #expect(
      try place.run("get", "Album", "1", "--fields", "artistName").out == "Nina & the Tides\n",
      "a bound field goes back to what it follows")
  }

  @Test func aCommandWithNothingToChangeSaysSo() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run("update", "Artist", "1", "name=Nina & the Tides")
        == Outcome(code: 0, out: "", err: "no change: the values were already the same\n"))
  }

  @Test func anInsertOfAnExistingKeyUpdatesWhenRequested() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(try place.run("insert", "Artist", "id=1", "name=X", "founded=1960").code == 4)
    #expect(
      try place.run("insert", "Artist", "id=1", "name=X", "founded=1996", "--upsert", "-q").out
        .hasPrefix("~ Artist 1  name: \"Nina & the Tides\" -> \"X\""))
  }

  @Test func rulesInSwiftStopTheCommandLine() throws {
    let place = try Workplace()
    try place.makeMusic()
    #expect(
      try place.run("update", "Album", "1", "title=x")
        == Outcome(
          code: 4, out: "",
          err:
            "error[codeValidators]: Album has validators in Swift that only its own program can run: "
            + "Album.notBeforeArtist.\n"
            + "hint: write through that program, or add --skip-code-validators\n"))
  }

  @Test func anUnreadableValueIsAFailureOfTheFileAndCanBeReplaced() throws {
    let place = try Workplace()
    try place.makeMusic()
    let raw = try RawDatabase(place.path("music.store"))
    try raw.execute("UPDATE Track SET title = CAST(x'ff' AS TEXT) WHERE id = 3")
    for words in [
      ["delete", "Track", "3"], ["delete", "Track", "--where", "id = 3", "--yes"],
      ["delete", "Track", "--where", "id = 3"],
      ["update", "Track", "--where", "id = 3", "seconds=100", "--yes"],
      ["update", "Track", "3", "seconds+=1"],
    ] {
      let outcome = try place.run(words)
      #expect(
        outcome.code == 1
          && outcome.err.contains(#/^error\[unreadable\]: Track(\[3\])?\.title: /#),
        "\(words) \(outcome)")
    }
    #expect(
      try place.run("update", "Track", "3", "title=x")
        == Outcome(
          code: 0, out: "~ Track 3  title: \"x\"\n",
          err: "the old values cannot be read, so they are not shown\n"))
    #expect(try place.run("get", "Track", "3", "--fields", "title").out == "x\n")
    #expect(try place.run("update", "Track", "9999", "title=x").code == 3)
  }
}
