import Testing

/// Before a question, a command prints what would happen. The subject is a terminal.
@Suite(.tags(.process)) struct QuestionTests {
  private func music() throws -> Workplace {
    let place = try Workplace()
    try place.makeMusic()
    return place
  }

  /// Runs a command on a terminal on which a person types `n`.
  private func refusing(_ words: String, in place: Workplace) throws -> [String] {
    let environment = place.environment.merging([
      "HOME": place.directory, "PATH": "/usr/bin:/bin", "NO_COLOR": "1", "TMPDIR": place.directory,
    ]) { mine, _ in mine }
    let seen = try PseudoTerminal.run(
      "'\(Workplace.program)' \(words)", in: place.directory, environment: environment,
      typing: "n\n")
    return seen.split(whereSeparator: \.isNewline).map(String.init)
  }

  @Test func aDeletionShowsItsFirstLinesAndCounts() throws {
    let place = try music()
    let seen = try refusing("delete Track --where 'albumID = 7'", in: place)
    #expect(seen.count == 8, "\(seen)")
    #expect(seen.prefix(5).allSatisfy { $0.hasPrefix("  - Track ") }, "\(seen)")
    #expect(
      seen.suffix(3) == [
        "  and 5 more lines", "The changes are: 10 Track deleted. Continue? [y/N]",
        "nothing was deleted",
      ])
    #expect(try place.run("query", "Track", "albumID = 7", "--count").out == "10\n")
  }

  @Test func anUpdateShowsItsFirstLines() throws {
    let place = try music()
    let seen = try refusing("update Track --where 'id < 3' seconds=77", in: place)
    #expect(seen.count == 4, "\(seen)")
    #expect(
      seen.prefix(2).map { $0.prefix(18) } == ["  ~ Track 1  secon", "  ~ Track 2  secon"],
      "\(seen)")
    #expect(seen.suffix(2) == ["Change 2 Track records? [y/N]", "nothing was changed"], "\(seen)")
    #expect(try place.run("query", "Track", "seconds = 77 and id < 3", "--count").out == "0\n")
  }

  @Test func leavingListsWhatTheModelsTakeAlong() throws {
    let place = try Workplace()
    try RawDatabase(place.path("shop.db")).execute(RecordedGuide.shop)
    for words in [
      ["adopt", "--yes"], ["journal", "on"], ["update", "Product", "1", "name=Harp"],
      ["rules", "add", "Product", "--length", "name=1..9", "--name", "short"],
    ] {
      try #require(try place.run(words + ["-d", "shop.db"]).code == 0)
    }
    let seen = try refusing("leave -d shop.db --force", in: place)
    #expect(
      seen == [
        "  - model Product", "  - model Shelf", "  - rule short  It is about Product.",
        "Remove 2 models, 1 rule, 1 journal entry from the store, with the store's own tables? "
          + "Tables and records stay. [y/N]",
        "nothing was removed",
      ])
    #expect(try place.run("models", "-q", "-d", "shop.db").out.split(separator: "\n").count == 2)
    // Without a question, as from a script.
    #expect(try place.run("leave", "-d", "shop.db", "--force", "-n").code == 0)
    #expect(
      try refusing("leave -d shop.db --force --yes", in: place).contains("nothing was removed")
        == false)
    #expect(try place.run("models", "-q", "-d", "shop.db").out == "")
  }

  @Test func droppingABindingShowsItAndWhatItsFieldKeeps() throws {
    let place = try music()
    let seen = try refusing("bindings drop Album.artistName", in: place)
    #expect(
      seen == [
        "  - binding Album.artistName: Album.artistName = Artist.name through Album.artistID",
        "  Album.artistName keeps its value; Album has 120 records",
        "Drop the binding Album.artistName? [y/N]", "nothing was dropped",
      ])
    #expect(try place.run("bindings", "list", "-q").out.contains("Album.artistName"))
    let dry = try refusing("bindings drop Album.artistName -n", in: place)
    #expect(
      dry == ["would be dropped Album.artistName", "dry run: nothing was dropped"])
    let dropped = try refusing("bindings drop Album.artistName --yes", in: place)
    #expect(dropped == ["dropped Album.artistName"])
  }

  @Test func adoptionNamesTheTables() throws {
    let place = try Workplace()
    try RawDatabase(place.path("shop.db")).execute(RecordedGuide.shop)
    let seen = try refusing("adopt -d shop.db", in: place)
    #expect(seen.first == "would be adopted: 2 tables, Product, Shelf", "\(seen)")
    #expect(
      seen.last == "nothing was adopted; --keep-journal-mode adopts without that", "\(seen)")
  }
}
