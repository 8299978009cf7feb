import ModelStore
import Testing

@testable import StoreCommand

/// Moving a database into a ledger and back. The ledger is in this process.
@Suite(.tags(.process)) struct ShareCommandTests {
  private let place: Workplace
  private let ledger = MemoryLedger()

  init() throws {
    place = try Workplace()
    place.environment["STORECLI_LEDGER"] = "memory"
    try RawDatabase(place.path("a.db")).execute(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (1, 'x')")
    for words in [["adopt"], ["journal", "on"]] {
      try #require(try place.run(words + ["-d", "a.db"]).code == 0)
    }
  }

  private func run(_ words: String...) throws -> Outcome {
    try place.run(words, with: ledger)
  }

  @Test func aDatabaseIsSharedJoinedAndTakenBack() throws {
    let preview = try run("share", "music", "-d", "a.db", "-n")
    #expect(preview.err == "dry run: the database can be shared; nothing was changed\n")
    #expect(try ledger.standing() == nil)
    #expect(try run("share", "music", "-d", "a.db").err == "a.db is the first member of music\n")
    #expect(
      try run("share", "music", "-d", "a.db").err == "a.db is a member of music already\n")
    #expect(try run("join", "music", "-d", "b.db").err == "b.db is a member of music\n")
    #expect(try run("insert", "t", "a=y", "-d", "b.db").code == 0)
    // The other member gets it with its next write, or when it leaves.
    let left = try run("unshare", "-d", "a.db")
    #expect(left.err == "a.db left music after its commit 1\n")
    #expect(try place.run("get", "t", "2", "-d", "a.db").out == "2\ty\n")
    // Without the ledger, too.
    #expect(try place.run("insert", "t", "a=z", "-d", "a.db").code == 0)
  }

  @Test func theLedgerAndItsMembersAreShown() throws {
    #expect(try run("members", "-d", "a.db").err.contains("is not a member of a shared store."))
    try #require(try run("share", "music", "-d", "a.db").code == 0)
    try #require(try run("join", "music", "-d", "b.db").code == 0)
    try #require(try run("insert", "t", "a=y", "-d", "b.db").code == 0)
    let status = try run("ledger", "-d", "a.db", "--json")
    #expect(status.code == 0, "\(status)")
    #expect(
      status.out.contains(#""store":"music","commit":0,"behind":1,"durability":"local","#),
      "\(status)")
    let members = try run("members", "-d", "a.db", "--csv")
    let lines = members.out.split(whereSeparator: \.isNewline).dropFirst()
    #expect(lines.filter { $0.hasSuffix(",1,here") }.count == 1, "\(members)")
    let doctor = try run("doctor", "-d", "a.db")
    #expect(doctor.code == 0 && doctor.out.contains("1 commit to come"), "\(doctor)")
    place.environment["STORECLI_LEDGER"] = ""
    let alone = try run("ledger", "status", "-d", "a.db", "--json")
    #expect(alone.code == 2 && alone.out.contains("a program needs its ledger to write"))
    #expect(try run("members", "-d", "a.db").code == 1)
  }

  @Test func aMemberIsWrittenOnlyWithItsLedger() throws {
    try #require(try run("share", "music", "-d", "a.db").code == 0)
    place.environment["STORECLI_LEDGER"] = ""
    let insert = try run("insert", "t", "a=y", "-d", "a.db")
    #expect(insert.code == 1 && insert.err.contains("STORECLI_LEDGER"), "\(insert)")
    let unshare = try run("unshare", "-d", "a.db")
    #expect(unshare.code == 64)
    #expect(unshare.err.contains("set STORECLI_LEDGER to a connection of PostgreSQL"))
    #expect(try place.run("query", "t", "-d", "a.db").out == "1\tx\n")
    let offline = try run("unshare", "--offline", "-d", "a.db")
    #expect(offline.err == "a.db left music after its commit 0\n")
    #expect(try run("unshare", "-d", "a.db").err == "a.db is not a member of a shared store\n")
  }

  @Test func theProjectsFileNamesTheLedger() throws {
    place.environment["STORECLI_LEDGER"] = nil
    try place.write("db = \"a.db\"\nledger = \"memory\"\n", to: "storecli.toml")
    #expect(try run("share", "music").code == 0)
    #expect(try run("insert", "t", "a=y").code == 0)
    #expect(try ledger.standing()?.number.rawValue == 1)
  }

  @Test func aProgramWithoutLedgersSaysHowToGetOne() throws {
    let share = try place.run("share", "music", "-d", "a.db")
    #expect(share.code == 1)
    #expect(share.err.contains("was built without PostgreSQL. Nothing was changed."))
    #expect(share.err.contains("--traits Postgres"))
  }

  @Test func theJournalMustBeOn() throws {
    try #require(try place.run("journal", "off", "-d", "a.db").code == 0)
    let share = try run("share", "music", "-d", "a.db")
    #expect(share.code == 4 && share.err.contains("The change journal is off"), "\(share)")
    #expect(share.err.contains("hint: storecli journal on -d a.db"))
    #expect(try ledger.standing() == nil)
    #expect(try run("share", "music", "-d", "a.db", "--without-journal").code == 0)
  }

  @Test func placesThatCannotBeAreRefused() throws {
    let missing = try run("join", "music", "-d", "b.db")
    #expect(missing.code == 3 && missing.err.contains("no shared store music"), "\(missing)")
    let taken = try run("join", "music", "-d", "a.db")
    #expect(taken.code == 1 && taken.err.contains("error[fileExists]"), "\(taken)")
    try #require(try run("share", "music", "-d", "a.db").code == 0)
    let other = try run("share", "other", "-d", "a.db")
    #expect(other.code == 1 && other.err.contains("member of the shared store music"), "\(other)")
    try RawDatabase(place.path("c.db")).execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    let same = try run("share", "music", "-d", "c.db", "--without-journal")
    #expect(same.code == 1 && same.err.contains("has a shared store music already"), "\(same)")
    #expect(try place.names().contains("b.db") == false)
  }
}
