import Foundation
import Testing

@testable import StoreCommand

/// A session on a terminal.
@Suite(.tags(.process), .ownThreads) struct SessionTerminalTests {
  private func music(journal: Bool = false) throws -> Workplace {
    let place = try Workplace()
    try place.makeMusic()
    if journal { try #require(try place.run("journal", "on").code == 0) }
    return place
  }

  @Test func aPersonEditsCompletesAndLeaves() throws {
    let place = try music()
    let session = try SessionProcess(place)
    try session.see("music> ")
    try session.type("quer\t")
    try session.see("query ")
    try session.type("Tra\t")
    try session.see("Track ")
    try session.type("'id = 2' --fi\t")
    try session.see("--fields ")
    try session.type("ti\t")
    try session.see("title ")
    // A mistake ends nothing.
    try session.type("\rnonsense\r")
    try session.see("There is no command nonsense")
    try session.see("music> ")
    try session.type("SELECT seco\t\u{7F} FROM Track\r")
    try session.see(";> ")
    try session.type("WHERE id = 1;\r")
    try session.see("SECONDS")
    try session.see("music> ")
    try session.type("half a line\u{3}")
    try session.see("music> ")
    try session.type("\u{4}")
    #expect(session.finish() == 0)
    #expect(!session.seen.contains("half a line\r\nerror"))
  }

  @Test func theInputsComeBackInTheNextSession() throws {
    let place = try music()
    let first = try SessionProcess(place)
    try first.see("music> ")
    try first.type("get Track 1\r")
    try first.see("music> ")
    try first.type(" get Track 2\rexit\r")
    #expect(first.finish() == 0)
    let kept = try place.contents(of: ".local/state/storecli/history")
    #expect(kept == "get Track 1\nexit\n")
    let second = try SessionProcess(place)
    try second.see("music> ")
    try second.type("\u{12}Tr")
    try second.see("get Track 1")
    try second.type("\rexit\r")
    try second.see("  title  ")
    #expect(second.finish() == 0)
    let third = try SessionProcess(
      place, ["--no-history"], environment: ["XDG_STATE_HOME": place.path("other")])
    try third.see("music> ")
    try third.type("models\rexit\r")
    #expect(third.finish() == 0)
    #expect(!FileManager.default.fileExists(atPath: place.path("other")))
  }

  @Test func thePromptShowsATransactionThatOthersWaitFor() throws {
    let place = try music()
    let raw = try RawDatabase(place.path("music.store"))
    let session = try SessionProcess(place)
    try session.see("music> ")
    try session.type("begin\r")
    try session.see("other programs cannot write")
    try session.see("music* ")
    #expect(try !raw.canBegin())
    try session.type("update Track 1 seconds=10\r")
    try session.see("-> 10")
    try session.see("music* ")
    #expect(try raw.value("SELECT seconds FROM Track WHERE id = 1") != "10")
    // Leaving would lose it.
    try session.type("\u{4}")
    try session.see("A transaction is open.")
    try session.see("music* ")
    try session.type("exit\r")
    try session.see("A transaction is open.")
    try session.type("commit\r")
    try session.see("committed: 1 Track updated")
    try session.see("music> ")
    #expect(try raw.canBegin())
    #expect(try raw.value("SELECT seconds FROM Track WHERE id = 1") == "10")
    try session.type("exit\r")
    #expect(session.finish() == 0)
  }

  @Test func theEndOfTheTerminalRollsBack() throws {
    let place = try music()
    let session = try SessionProcess(place)
    try session.see("music> ")
    try session.type("begin\rupdate Track 1 seconds=10\r")
    try session.see("-> 10")
    try session.see("music* ")
    session.terminate()
    #expect(session.finish() == -SIGTERM)
    let raw = try RawDatabase(place.path("music.store"))
    #expect(try raw.canBegin())
    #expect(try raw.value("SELECT seconds FROM Track WHERE id = 1") != "10")
  }

  @Test func commitsOfOthersAppearAboveTheLine() throws {
    let place = try music(journal: true)
    let session = try SessionProcess(place)
    try session.see("music> ")
    try session.type("watch on\r")
    try session.see("watch off ends it")
    try session.see("music> ")
    try session.type("get Tra")
    try session.see("get Tra")
    try session.see("\r")
    try #require(try place.runProcess("update", "Track", "7", "seconds=77").code == 0)
    try session.see("~ Track 7")
    try session.see("storecli[")
    // The line is drawn again below, and goes on.
    try session.see("music> get Tra")
    try session.type("ck 7 --fields seconds\r")
    try session.see("77")
    try session.see("music> ")
    // Its own changes are reported once.
    try session.type("update Track 8 seconds=88\r")
    try session.see("undo with")
    try session.see("music> ")
    try session.type("watch off\r")
    try session.see("music> ")
    try #require(try place.runProcess("update", "Track", "7", "seconds=78").code == 0)
    try session.type("exit\r")
    #expect(session.finish() == 0)
    #expect(session.seen.components(separatedBy: "~ Track 8").count == 2)
    #expect(!session.seen.contains("-> 78"))
  }

  /// SQLite rolls a whole transaction back if a statement that writes is interrupted.
  @Test func anInterruptedWriteEndsItsTransaction() throws {
    let place = try music()
    let session = try SessionProcess(place)
    try session.see("music> ")
    try session.type("begin\rupdate Track 1 seconds=10\r")
    try session.see("-> 10")
    try session.see("music* ")
    let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
    try session.type("\(endless) UPDATE Track SET seconds = (SELECT count(*) FROM c); models;\r")
    try session.see("\u{1B}[?2004l")
    session.interrupt()
    try session.see("rolled the transaction back")
    try session.see("music> ")
    let raw = try RawDatabase(place.path("music.store"))
    #expect(try raw.canBegin())
    #expect(try raw.value("SELECT seconds FROM Track WHERE id = 1") != "10")
    try session.type("exit\r")
    #expect(session.finish() == 0)
    #expect(!session.seen.contains("3 models"))
  }

  @Test func aTerminalThatIsGoneEndsTheSessionAndItsTransaction() throws {
    let place = try music()
    let raw = try RawDatabase(place.path("music.store"))
    for variables in [[:], ["TERM": "dumb"]] {
      let session = try SessionProcess(place, environment: variables)
      try session.see("music> ")
      try session.type("begin\r")
      try session.see("music* ")
      #expect(session.hangUp() == 1)
      #expect(try raw.canBegin())
    }
  }

  @Test func ctrlDInATransactionOfAPlainPromptIsAnsweredOnce() throws {
    let place = try music()
    let session = try SessionProcess(place, environment: ["TERM": "dumb"])
    try session.see("music> ")
    try session.type("begin\n")
    try session.see("music* ")
    try session.type("\u{4}")
    try session.see("A transaction is open.")
    try session.see("music* ")
    try session.type("commit\nexit\n")
    #expect(session.finish() == 0)
    #expect(session.seen.components(separatedBy: "A transaction is open.").count == 2)
  }

  @Test func anInterruptedReadLeavesTheTransaction() throws {
    let place = try music()
    let session = try SessionProcess(place)
    try session.see("music> ")
    try session.type("begin\rupdate Track 1 seconds=10\r")
    try session.see("-> 10")
    try session.see("music* ")
    let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
    try session.type("\(endless) SELECT count(*) FROM c;\r")
    try session.see("\u{1B}[?2004l")
    session.interrupt()
    try session.see("music* ")
    try session.type("commit\rexit\r")
    #expect(session.finish() == 0)
    let raw = try RawDatabase(place.path("music.store"))
    #expect(try raw.value("SELECT seconds FROM Track WHERE id = 1") == "10")
  }

  @Test func withoutAJournalTheFeedIsRefused() throws {
    let place = try music()
    let session = try SessionProcess(place)
    try session.see("music> ")
    try session.type("watch on\r")
    try session.see("The change journal is off")
    try session.see("music> ")
    try session.type("exit\r")
    #expect(session.finish() == 0)
  }

  @Test func aPasteIsOneInput() throws {
    let place = try music()
    let session = try SessionProcess(place)
    try session.see("music> ")
    try session.type("\u{1B}[200~SELECT 10 +\n 32 AS sum;\u{1B}[201~")
    try session.see("sum;")
    try session.type("\r")
    try session.see("42")
    try session.type("exit\r")
    #expect(session.finish() == 0)
  }

  @Test func aQuestionIsAskedBetweenTwoPrompts() throws {
    let place = try music()
    let session = try SessionProcess(place)
    try session.see("music> ")
    try session.type("delete Track --where 'id = 3'\r")
    try session.see("[y/N]")
    try session.type("y\n")
    try session.see("- Track 3")
    try session.see("music> ")
    try session.type("query Track 'id = 3' --count\rexit\r")
    try session.see("COUNT")
    try session.see("0\r\n")
    #expect(session.finish() == 0)
  }

  @Test func aTerminalThatCannotDrawHasAPlainPrompt() throws {
    let place = try music()
    let session = try SessionProcess(place, environment: ["TERM": "dumb"])
    try session.see("music> ")
    try session.type("SELECT 40 +\n")
    try session.see("...> ")
    try session.type("2;\n")
    try session.see("42")
    try session.type("exit\n")
    #expect(session.finish() == 0)
    #expect(!session.seen.contains("\u{1B}"))
  }
}
