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
        "  and 5 more lines", "Continue with this: 10 Track deleted? [y/N]", "nothing was deleted",
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

  @Test func adoptionNamesTheTables() throws {
    let place = try Workplace()
    try RawDatabase(place.path("shop.db")).execute(RecordedGuide.shop)
    let seen = try refusing("adopt -d shop.db", in: place)
    #expect(seen.first == "would be adopted: 2 tables, Product, Shelf", "\(seen)")
    #expect(
      seen.last == "nothing was adopted; --keep-journal-mode adopts without that", "\(seen)")
  }
}
