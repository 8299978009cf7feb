import Foundation
import ModelStore
import Synchronization
import Testing

@testable import StoreCommand

/// A session whose inputs are a script.
@Suite(.tags(.process)) struct SessionScriptTests {
  private func music(journal: Bool = false) throws -> Workplace {
    let place = try Workplace()
    try place.makeMusic()
    if journal { try #require(try place.run("journal", "on").code == 0) }
    return place
  }

  @Test func commandsRunWithoutTheProgramsName() throws {
    let place = try music()
    let outcome = try place.run(
      "shell",
      input: """
        # a comment
        models; query Track 'id = 1' --fields id
        storecli query Track \\
          'id = 2' --fields id
        SELECT id FROM Track
          WHERE id = 3;
        SELECT 4
        """)
    #expect(outcome.code == 0, "\(outcome)")
    #expect(outcome.out.hasSuffix("declared\n1\n2\n3\n4\n"), "\(outcome.out)")
  }

  @Test func aScriptEndsAtTheFirstFailure() throws {
    let place = try music()
    let script = "get Track 1 -q\nget Track 9999\ngetTrack 2\nupdate Track 1 title=''"
    let stopped = try place.run("shell", input: script)
    #expect(stopped.code == 3 && stopped.out.hasPrefix("1\t"), "\(stopped)")
    #expect(stopped.err.hasSuffix("stopped at line 2: get Track 9999\n"), "\(stopped.err)")
    let whole = try place.run("shell", "--keep-going", input: script)
    #expect(whole.code == 3 && whole.err.contains("There is no command getTrack"), "\(whole)")
    #expect(whole.err.contains("Track.title.length"))
    #expect(!whole.err.contains("stopped"))
  }

  @Test func sqlChangesAreReportedAndRulesHold() throws {
    let place = try music(journal: true)
    let outcome = try place.run(
      "shell", "--keep-going",
      input: """
        UPDATE Track SET seconds = seconds WHERE id = 1;
        UPDATE Track SET seconds = 7 WHERE id IN (1, 2);
        WITH n AS (SELECT 1 AS id) UPDATE Track SET seconds = 8 WHERE id IN (SELECT id FROM n);
        UPDATE Track SET title = '' WHERE id = 1;
        INSERT INTO Nope VALUES (1);
        PRAGMA journal_mode = delete;
        undo
        DELETE FROM Track WHERE id = 999999;
        """)
    let out = outcome.out.split(separator: "\n").map(String.init)
    #expect(out.count == 4, "\(out)")
    #expect(out.allSatisfy { $0.hasPrefix("~ Track ") })
    #expect(out[2].contains("seconds: 7 -> 8") && out[3].contains("seconds: 8 -> 7"), "\(out)")
    #expect(outcome.err.contains("2 Track updated\nundo with storecli undo\n"))
    #expect(outcome.err.contains("1 row written; no record of a model changed"))
    #expect(outcome.err.contains("(rule Track.title.length)"))
    #expect(outcome.err.contains("no such table: Nope"))
    #expect(outcome.err.hasSuffix("no row was written\n"), "\(outcome.err)")
    // The first failure was the rule.
    #expect(outcome.code == 4)
  }

  /// The session closes its store for such a command, which opens the file itself.
  @Test func aCommandThatOpensTheFileItselfOpensThatOfTheSession() throws {
    let place = try music()
    place.environment["STORECLI_DB"] = nil
    let path = place.path("music.store")
    let outcome = try place.run(
      "shell", "-d", path, "-q", input: "compact\nbackup copy.store\nmodels -d other.store\n")
    #expect(outcome.code == 64 && outcome.err.contains("The session has"), "\(outcome)")
    #expect(try place.run("hash", "-d", "copy.store") == place.run("hash", "-d", path))
  }

  @Test func rowsOfReturningAreShown() throws {
    let place = try music()
    let outcome = try place.run(
      "shell", "--header",
      input: """
        UPDATE Track SET seconds = 7 WHERE id IN (1, 2) RETURNING id, seconds + 1 AS next;
        begin
        DELETE FROM Track WHERE id = 2 RETURNING id AS gone;
        UPDATE Track SET seconds = 8 WHERE id = 999999 RETURNING id;
        rollback
        SELECT count(*) AS kept FROM Track WHERE id = 2;
        """)
    #expect(outcome.code == 0, "\(outcome)")
    let lines = outcome.out.split(separator: "\n").map(String.init)
    #expect(lines.count == 11, "\(lines)")
    #expect(lines[2...4] == ["id\tnext", "1\t8", "2\t8"], "\(lines)")
    #expect(lines.suffix(5) == ["gone", "2", "id", "kept", "1"], "\(lines)")
  }

  /// The rows of a refused statement were never written.
  @Test func rowsOfARefusedStatementAreNotShown() throws {
    let place = try music()
    let outcome = try place.run(
      "shell", input: "UPDATE Track SET title = '' WHERE id = 1 RETURNING id, title;")
    #expect(outcome.code == 4 && outcome.out.isEmpty, "\(outcome)")
  }

  @Test func aTransactionIsOneEntryOfTheHistory() throws {
    let place = try music(journal: true)
    let outcome = try place.run(
      "shell",
      input: """
        begin
        update Track 1 seconds=10
        UPDATE Track SET seconds = 11 WHERE id = 1;
        insert Artist name=New founded=1999
        get Artist $_ --fields name
        query Track 'seconds = 11' --count
        delete Track 2 -n
        query Track 'id = 2' --count
        commit
        history --json
        """)
    #expect(outcome.code == 0, "\(outcome)")
    let lines = outcome.out.split(separator: "\n").map(String.init)
    #expect(lines[1].contains("seconds: 10 -> 11"), "\(lines)")
    #expect(lines[3...5].map { $0 } == ["New", "1", lines[5]])
    #expect(lines[6] == "1")
    #expect(
      outcome.err.contains("committed: 1 Track updated; 1 Artist inserted\n"), "\(outcome.err)")
    let transactions = Set(
      outcome.out.matches(of: /"txn":"(\w+)"/).map { String($0.output.1) })
    #expect(transactions.count == 1, "\(outcome.out)")
  }

  /// Post-mortem: the keys of an earlier result were deleted.
  @Test(arguments: ["query Artist 'id = -5'", "SELECT id FROM Artist WHERE id = -5;"])
  func anEmptyResultNamesNoKey(_ query: String) throws {
    let place = try music()
    let before = try place.run("query", "Artist", "--count").out
    let outcome = try place.run(
      "shell", input: "query Artist 'id = 1'\n\(query)\ndelete Artist $_\n")
    #expect(outcome.code == 64)
    #expect(outcome.err.contains("The last result has no records, so $_ names no key."))
    #expect(try place.run("query", "Artist", "--count").out == before)
  }

  @Test func aRefusedStatementIsUndoneAlone() throws {
    let place = try music()
    let outcome = try place.run(
      "shell", "--keep-going",
      input: """
        begin
        update Track 1 seconds=10
        UPDATE Track SET seconds = 12, title = CASE id WHEN 3 THEN '' ELSE title END WHERE id < 4;
        models
        begin
        commit
        query Track 'seconds in (10, 12)' --fields id,seconds
        """)
    #expect(outcome.out.hasSuffix("1\t10\n"), "\(outcome)")
    #expect(outcome.err.contains("needs the store without one"))
    #expect(outcome.err.contains("A transaction is open."))
    #expect(outcome.err.contains("committed: 1 Track updated"))
    #expect(outcome.code == 4)
  }

  @Test func aTransactionIsRolledBackByWordAtTheEndAndByAFailure() throws {
    let place = try music()
    let word = try place.run("shell", input: "begin\nupdate Track 1 seconds=10\nrollback\n")
    #expect(word.code == 0 && word.err.hasSuffix("nothing of the transaction was written\n"))
    let end = try place.run("shell", input: "begin\nupdate Track 1 seconds=10\n")
    #expect(end.code == 1 && end.err.contains("error[openTransaction]"), "\(end)")
    let exit = try place.run("shell", input: "begin\nupdate Track 1 seconds=10\nexit")
    #expect(exit.code == 1, "\(exit)")
    let failure = try place.run("shell", input: "begin\nupdate Track 1 seconds=10\nget Track 0\n")
    #expect(failure.code == 3, "\(failure)")
    #expect(failure.err.hasSuffix("nothing of the transaction was written\n"), "\(failure)")
    #expect(try place.run("query", "Track", "id = 1 and seconds = 10", "--count").out == "0\n")
    for line in ["commit", "rollback"] {
      #expect(try place.run("shell", input: line).code == 64)
    }
  }

  @Test func anotherWriterMakesBeginWaitAndFail() throws {
    let place = try music()
    let raw = try RawDatabase(place.path("music.store"))
    try raw.execute("BEGIN IMMEDIATE")
    let outcome = try place.runProcess("shell", "--busy-timeout", "0", input: "begin\n")
    #expect(outcome.code == 5, "\(outcome)")
    try raw.execute("ROLLBACK")
    #expect(try place.runProcess("shell", "--busy-timeout", "0", input: "begin\ncommit").code == 0)
  }

  @Test func theScriptIsNotTheInputOfItsCommands() throws {
    let place = try music()
    let outcome = try place.run(
      "shell", "--keep-going",
      input: "insert Artist founded=1999 name=-\ninsert Artist --from -\nquery Artist --count")
    #expect(outcome.out == "40\n", "\(outcome)")
    #expect(outcome.err.components(separatedBy: "it is the script of the session").count == 3)
  }

  @Test func commandsWithTheirOwnStoreRunBetweenOthers() throws {
    let place = try music()
    let outcome = try place.run(
      "shell",
      input: """
        update Track 1 seconds=10
        journal on
        update Track 1 seconds=11
        backup copy.store
        update Track 1 seconds=12
        restore copy.store --yes
        get Track 1 --fields seconds
        update Track 1 seconds=13
        history --limit 1 --json
        """)
    #expect(outcome.code == 0, "\(outcome)")
    #expect(outcome.out.contains("\n11\n"), "\(outcome.out)")
    #expect(outcome.out.contains(#"{"old":11,"new":13}"#), "\(outcome.out)")
  }

  @Test func optionsOfTheSessionAreDefaults() throws {
    let place = try music()
    let outcome = try place.run(
      "shell", "-o", "csv", "--header", "-q",
      input:
        "query Track 'id = 1' --fields id\nquery Track 'id = 1' --fields id --json\nSELECT 1 AS x;")
    #expect(outcome.out == "id\r\n1\r\n[\n{\"id\":1}\n]\nx\r\n1\r\n", "\(outcome)")
    let errors = try place.run("shell", "--json", "--keep-going", input: "get Track 0\nundo\n.x")
    #expect(
      errors.err.split(separator: "\n").count { $0.hasPrefix("{\"error\":") } == 3, "\(errors)")
  }

  @Test func theDatabaseOfASessionIsFixed() throws {
    let place = try music()
    for line in ["models -d other.db", "-d other.db models", "shell", "undo --busy-timeout 9"] {
      #expect(try place.run("shell", input: line).code == 64, "\(line)")
    }
  }

  @Test func anUnfinishedScriptIsAMistake() throws {
    let place = try music()
    let outcome = try place.run("shell", input: "models -q\nquery Track 'id = 1\nmodels\n")
    #expect(outcome.code == 64, "\(outcome)")
    #expect(outcome.err.contains("The input ends within ', in the command of line 2."))
    let bytes = try place.run("shell", input: "SELECT 1;\u{0}")
    #expect(bytes.code != 0)
  }

  @Test func aReadOnlyFileCanBeRead() throws {
    let place = try music()
    try place.run("shell", input: "SELECT 1;")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o444], ofItemAtPath: place.path("music.store"))
    let outcome = try place.run(
      "shell", "--keep-going", input: "query Track 'id = 1' --count\nupdate Track 1 seconds=9")
    // The owner of the tests may be root, who can write any file.
    if getuid() != 0 {
      #expect(outcome.out == "1\n" && outcome.code == 1, "\(outcome)")
    }
  }

  @Test func aDamagedOrMissingFileIsAnError() throws {
    let place = try Workplace()
    try place.write("this is no database, whatever it is called", to: "x.db")
    #expect(try place.run("shell", "-d", "x.db", input: "models").code == 1)
    #expect(try place.run("shell", "-d", "none.db", input: "models").code == 3)
  }
}
