import Foundation
import Testing

@testable import StoreCommand

/// Output that is longer than the screen, on a terminal of 50 lines.
@Suite(.tags(.process)) struct PagerTests {
  private func music() throws -> Workplace {
    let place = try Workplace()
    try place.makeMusic()
    return place
  }

  /// What a person sees, with a pager that marks its lines.
  private func seen(
    _ words: String, pager: String? = "sed 's/^/page: /'", in place: Workplace,
    variables: [String: String] = [:]
  ) throws -> String {
    var environment = place.environment.merging([
      "HOME": place.directory, "PATH": "/usr/bin:/bin", "NO_COLOR": "1", "TMPDIR": place.directory,
    ]) { mine, _ in mine }
    if let pager { environment["STORECLI_PAGER"] = pager }
    return try PseudoTerminal.run(
      "'\(Workplace.program)' \(words)", in: place.directory,
      environment: environment.merging(variables) { _, mine in mine }
    ).replacing("\r\n", with: "\n")
  }

  @Test func longTablesOpenItAndMessagesFollow() throws {
    let place = try music()
    let lines = try seen("query Track --all", in: place).split(separator: "\n")
    #expect(lines.count == 1203)
    #expect(lines.dropLast().allSatisfy { $0.hasPrefix("page: ") })
    #expect(lines.last == "1 201 records")
  }

  @Test func whatFitsIsPrinted() throws {
    let place = try music()
    for words in ["query Artist --all", "models", "query Track", "help exit-codes"] {
      #expect(try !seen(words, in: place).contains("page: "), "\(words)")
    }
    // 47 records, the heading and the message are 49 lines, and the prompt takes the last.
    #expect(try !seen("query Track --limit 47", in: place).contains("page: "))
    #expect(try seen("query Track --limit 49", in: place).contains("page: "))
  }

  @Test func helpAndHistoryOpenIt() throws {
    let place = try music()
    try #require(try place.run("journal", "on").code == 0)
    try #require(
      try place.run("update", "Track", "--where", "id <= 60", "seconds+=1", "--yes").code == 0)
    for words in ["query --help", "help formats", "history --all", "--help"] {
      #expect(try seen(words, in: place).hasPrefix("page: "), "\(words)")
    }
  }

  @Test func commandsThatWriteOrWatchHaveNone() throws {
    let place = try music()
    for words in ["update Track --where 'id < 80' seconds+=1 --yes", "export Track", "demo"] {
      #expect(try !seen(words, in: place).contains("page: "), "\(words)")
    }
  }

  @Test(arguments: [
    ("query Track --all --no-pager", "sed 's/^/page: /'"), ("query Track --all", ""),
    ("query Track --all", "cat"), ("--no-pager query Track --all", "sed 's/^/page: /'"),
    ("help formats --no-pager", "sed 's/^/page: /'"),
  ])
  func aPersonCanDoWithout(words: String, pager: String) throws {
    let place = try music()
    let shown = try seen(words, pager: pager, in: place)
    #expect(!shown.contains("page: ") && !shown.contains("warning"), "\(shown.prefix(200))")
    #expect(shown.split(separator: "\n").count > 40)
  }

  @Test func theOwnVariableComesBeforePAGER() throws {
    let place = try music()
    let pagers = ["PAGER": "sed 's/^/other: /'"]
    #expect(try seen("query Track --all", in: place, variables: pagers).hasPrefix("page: "))
    #expect(
      try seen("query Track --all", pager: nil, in: place, variables: pagers).hasPrefix("other: "))
  }

  @Test func aPipeHasNone() throws {
    let place = try music()
    #expect(try !seen("query Track --all | cat", in: place).contains("page: "))
    place.environment["STORECLI_PAGER"] = "sed 's/^/page: /'"
    #expect(try place.runProcess("query", "Track", "--all").out.hasPrefix("1\t"))
  }

  @Test func whoLeavesEarlyEndsTheCommandQuietly() throws {
    let place = try music()
    #expect(
      try seen("query Track --all; echo status $?", pager: "head -n 2", in: place)
        == """
         ID  TITLE               SECONDS  ALBUMID
          1  Midnight Cities         125        1
        1 201 records
        status 0

        """)
  }

  /// The command ends too, although its result has no end.
  @Test func anEndlessResultEndsWithThePager() throws {
    let place = try music()
    let sql = """
      WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c
      """
    #expect(
      try seen("query --sql '\(sql)' --all; echo status $?", pager: "head -n 1", in: place)
        == "  I\nstatus 0\n")
  }

  @Test(arguments: ["/nowhere/pager -x", "no-such-pager", "./plain.txt"])
  func aPagerThatCannotBeRunIsAWarning(pager: String) throws {
    let place = try music()
    try place.write("text", to: "plain.txt")
    let lines = try seen("query Track --all", pager: pager, in: place)
      .split(separator: "\n").map(String.init)
    let warning = try #require(lines.first { $0.hasPrefix("warning: the pager ") })
    #expect(
      warning.hasPrefix("warning: the pager \(pager) cannot be run: it ended with status 12")
        && warning.hasSuffix("Choose one with STORECLI_PAGER, or pass --no-pager."), "\(warning)")
    // The words of the shell, the warning, the heading, all records and their number.
    #expect(lines.count == 1205 && lines.last == "1 201 records", "\(lines.count)")
  }

  @Test func coloursReachIt() throws {
    let place = try music()
    #expect(
      try seen("query Track --all --color always", in: place, variables: ["NO_COLOR": ""])
        .hasPrefix("page:  \u{1B}[1mID"))
  }

  @Test func theFirstOfTheVariablesDecides() {
    func line(_ environment: [String: String]) -> String? {
      PagerChoice(environment: environment)?.line
    }
    #expect(line(["STORECLI_PAGER": " more ", "PAGER": "less"]) == "more")
    #expect(line(["PAGER": "less -S"]) == "less -S")
    #expect(line(["STORECLI_PAGER": "", "PAGER": "less"]) == nil)
    #expect(line(["TERM": "dumb", "PATH": "/usr/bin:/bin"]) == nil)
    #expect(line(["TERM": "xterm", "PATH": "/nowhere"]) == nil)
    #expect(PagerChoice.variables(in: [:]) == ["LESS": "FIRX"])
    #expect(PagerChoice.variables(in: ["LESS": "S"]) == [:])
  }

  @Test func linesAreThoseOfTheScreen() {
    func count(_ text: String, width: Int) -> Int {
      var lines = ScreenLines(width: width)
      for byte in text.utf8 { lines.add([byte]) }
      return lines.count
    }
    #expect(count("a\n\nb\n", width: 10) == 3)
    #expect(count("0123456789\n01234567890\n", width: 10) == 3)
    #expect(count("\u{1B}[1m0123456789\u{1B}[0m\n", width: 10) == 1)
    #expect(count("世界世界世\n", width: 10) == 1)
    #expect(count("世界世界世界\n", width: 10) == 2)
  }
}
