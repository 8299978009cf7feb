import ModelStore
import Testing

@testable import StoreCommand

/// What an input of a session means, and whether it is finished.
@Suite(.tags(.unit)) struct ShellLineTests {
  private func words(_ text: String) -> [[String]] {
    ShellWords(text).commands.map { $0.map(\.text) }
  }

  @Test func wordsAreQuotedAsInAShell() {
    #expect(
      words("update T 1 title='a b' n=\"x\\\"y\" z=a\\ b") == [
        ["update", "T", "1", "title=a b", "n=x\"y", "z=a b"]
      ])
    #expect(words("insert T note='' a\"\"b") == [["insert", "T", "note=", "ab"]])
    #expect(words("'' \"\"") == [["", ""]])
    #expect(words("a; b 'c;d' ;; e;") == [["a"], ["b", "c;d"], ["e"]])
    #expect(words("a # b\nc") == [["a", "c"]])
    #expect(words("a#b \\\n c") == [["a#b", "c"]])
    #expect(words("  \n ") == [])
  }

  @Test(
    arguments: [
      ("query T 'a", "'"), ("query T \"a", "\""), ("query T (a", "("), ("query T \\", "\\"),
      ("query T \\\n", "\\"), ("SELECT 1", ";"), ("SELECT 'a", "'"), ("SELECT \"a;", "\""),
      ("SELECT (1;", "("), ("SELECT 1 /* ;", "*"), ("SELECT [a", "["), ("WITH a AS (", "("),
      ("SELECT 'it''s", "'"), ("select 1 -- ;", ";"),
    ] as [(String, Character)])
  func unfinished(text: String, open: Character) {
    // A semicolon within parentheses is a mistake that SQLite explains.
    if text == "SELECT (1;" { return #expect(ShellLine.open(in: text) == nil) }
    #expect(ShellLine.open(in: text) == open)
  }

  @Test(arguments: [
    "models", "query T 'a (b'", "SELECT 1;", "SELECT ';' ;", "", "SELECT 'it''s';", "a \\( b",
    "insert T a=1", "update T 1 a=1", "SELECT 1; -- done",
  ])
  func finished(text: String) {
    #expect(ShellLine.open(in: text) == nil)
  }

  @Test func sqlAndCommandsAreDistinguished() {
    for text in [
      "select 1", "With x as (select 1) select 1", "explain select 1", "insert into T values (1)",
      "INSERT OR IGNORE INTO T VALUES (1)", "delete from T", "update T set a = 1",
      "UPDATE T", "pragma table_info(T)", "values (1)", "-- why\nselect 1",
      "replace into T values (1)",
    ] {
      #expect(ShellLine.isSQL(text), "\(text)")
    }
    for text in ["insert T a=1", "update T 1 set=2", "delete T 1", "selects", "'select' 1", ""] {
      #expect(!ShellLine.isSQL(text), "\(text)")
    }
  }

  @Test func statementsReadOrWrite() {
    #expect(
      ShellLine.lines(
        of:
          "SELECT 1; DELETE FROM T; WITH a AS (SELECT 1) UPDATE T SET b = 1; WITH a AS (DELETE) SELECT 1; models"
      ) == [
        .reading("SELECT 1"), .writing("DELETE FROM T"),
        .writing("WITH a AS (SELECT 1) UPDATE T SET b = 1"),
        .reading("WITH a AS (DELETE) SELECT 1"), .command([.init(text: "models")]),
      ])
  }

  @Test func aCommentOnALineOfItsOwnIsNoCommand() {
    #expect(ShellLine.lines(of: "-- query T") == [])
    #expect(ShellLine.lines(of: "--") == [])
    #expect(ShellLine.lines(of: "SELECT 1; -- one") == [.reading("SELECT 1")])
  }

  @Test func wordsOfTheSession() {
    func line(_ text: String) -> [ShellLine] { ShellLine.lines(of: text) }
    #expect(line("begin; BEGIN IMMEDIATE; begin transaction") == [.begin, .begin, .begin])
    #expect(line("commit;rollback; exit; help") == [.commit, .rollback, .exit, .help([])])
    #expect(line("watch on; watch off") == [.watch(isOn: true), .watch(isOn: false)])
    #expect(line("help query") == [.help(["query"])])
    #expect(line("watch on Track").count == 1 && line("watch on Track") != [.watch(isOn: true)])
    #expect(line("storecli models") == [.command([.init(text: "models")])])
    #expect(
      line("get T $_ '$_'") == [
        .command([
          .init(text: "get"), .init(text: "T"), .init(text: "$_", isLastResult: true),
          .init(text: "$_"),
        ])
      ])
  }

  @Test(arguments: [
    (".schema", "models MODEL"), ("\\dt", "models"), ("quit", "exit"), (".quit", "exit"),
    ("CREATE TABLE t (a)", "a session changes records; change tables in a migration"),
    ("vacuum", "compact"), (".nonsense", "help"), ("end", "commit"),
  ])
  func habitsOfOtherPrograms(text: String, hint: String) {
    guard case .habit(let habit) = ShellLine.lines(of: text).first else {
      Issue.record("\(text) is no habit")
      return
    }
    #expect(habit.hint == hint)
  }

  @Test func theLastResultIsWordsOrAList() throws {
    var result = LastResult()
    #expect(throws: CommandError.self) { try result.expanded(sql: "SELECT 1 WHERE a IN $_") }
    result.beginResult(of: nil)
    result.note([.integer(1)])
    result.note([.text("a'b")])
    result.endCommand()
    result.endCommand()
    let words = ShellWords("get T $_ --where 'id in $_' 'costs $_'").commands[0]
    #expect(
      try result.expanded(words) == [
        "get", "T", "1", "a'b", "--where", "id in (1, 'a''b')", "costs $_",
      ])
    #expect(
      try result.expanded(sql: "SELECT '$_' WHERE a in  $_ OR b = $_;")
        == "SELECT '$_' WHERE a in  (1, 'a''b') OR b = $_;")
    result.beginResult(of: nil)
    result.note([.integer(1), .integer(2)])
    result.endCommand()
    #expect(try result.expanded(ShellWords("get T $_").commands[0]) == ["get", "T", "1,2"])
    #expect(throws: CommandError.self) { try result.expanded(sql: "SELECT 1 WHERE a IN $_") }
  }

  @Test func keysOfOneModelDoNotNameRecordsOfAnother() throws {
    var result = LastResult()
    result.beginResult(of: "Album")
    result.note([.integer(1)])
    result.endCommand()
    #expect(try result.expanded(ShellWords("get album $_").commands[0]) == ["get", "album", "1"])
    for words in ["delete Track $_", "delete Track --yes $_", "delete Track -- $_"] {
      #expect(throws: CommandError.self) {
        try result.expanded(ShellWords(words).commands[0])
      }
    }
    #expect(
      try result.expanded(ShellWords("reorder Track 7 --in $_").commands[0])
        == ["reorder", "Track", "7", "--in", "1"])
    // A list may be of references.
    #expect(
      try result.expanded(ShellWords("query Track 'album in $_'").commands[0])
        == ["query", "Track", "album in (1)"])
  }

  @Test func aResultThatIsTooLongIsRefusedAndNotCut() throws {
    var result = LastResult()
    result.beginResult(of: nil)
    for number in 0...LastResult.countMax { result.note([.integer(Int64(number))]) }
    result.endCommand()
    #expect(throws: CommandError.self) {
      try result.expanded(ShellWords("get T $_").commands[0])
    }
  }

  @Test func agesAreShort() {
    #expect(
      [0, 59, 60, 3599, 3600, 7200].map { SessionAge(.seconds($0)).text }
        == ["0s", "59s", "1m", "59m", "1h", "2h"])
  }

  @Test func completionsExtendTheWord() {
    #expect(CompletedInput(word: "Tr", candidates: ["Track"]).extended == "Track ")
    #expect(CompletedInput(word: "t", candidates: ["title="]).extended == "title=")
    #expect(CompletedInput(word: "T", candidates: ["Track", "Trailer"]).extended == "Tra")
    #expect(CompletedInput(word: "Tra", candidates: ["Track", "Trailer"]).extended == nil)
    #expect(CompletedInput(word: "x").extended == nil)
    #expect(
      CompletedInput.columns(["one", "three", "six"], width: 16) == "one    three\r\nsix\r\n")
  }
}
