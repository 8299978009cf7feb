import Foundation
import Testing

/// `watch --sort --limit --offset`: a window on a result.
@Suite(.tags(.process)) struct WatchWindowTests {
  private func scores(_ indexed: String) throws -> (place: Workplace, raw: RawDatabase) {
    let place = try Workplace()
    let raw = try RawDatabase(place.path("t.db"))
    try raw.execute(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, n INT NOT NULL, m INT NOT NULL);
      WITH RECURSIVE i(id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM i WHERE id < 100)
      INSERT INTO t SELECT id, id * 10, id * 10 FROM i;
      \(indexed);
      """)
    place.environment["STORECLI_DB"] = place.path("t.db")
    try #require(try place.run("adopt").code == 0)
    try #require(try place.run("journal", "on").code == 0)
    return (place, raw)
  }

  /// `op id from to`, with `slid` where it is so.
  private func words(_ line: String) throws -> String {
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    let index = try #require(object["index"] as? [String: Any])
    func text(_ value: Any?) -> String { (value as? Int).map(String.init) ?? "-" }
    return "\(object["op"] ?? "") \(object["id"] ?? "") \(text(index["from"])) \(text(index["to"]))"
      + (object["slid"] as? Bool == true ? " slid" : "")
  }

  @Test func onlyTheWindowIsReported() throws {
    let (place, raw) = try scores("CREATE INDEX byN ON t (n)")
    let watch = try WatchProcess(
      place,
      ["t", "--sort", "-n,-id", "--limit", "3", "--offset", "1", "--snapshot", "--count", "9"])
    #expect(
      try (1...3).map { _ in try words(watch.nextLine()) }
        == ["snapshot 99 - 0", "snapshot 98 - 1", "snapshot 97 - 2"])
    // Below the window: no line. Then one that enters at the top and pushes out the last.
    try raw.execute("UPDATE t SET n = 11 WHERE id = 50")
    try raw.execute("UPDATE t SET n = 985 WHERE id = 1")
    #expect(
      try [words(watch.nextLine()), words(watch.nextLine())].sorted() == [
        "delete 97 2 - slid", "insert 1 - 1",
      ])
    // Above the window: what was first slides in.
    try raw.execute("UPDATE t SET n = 2000 WHERE id = 2")
    #expect(
      try [words(watch.nextLine()), words(watch.nextLine())].sorted() == [
        "delete 98 2 - slid", "insert 100 - 0 slid",
      ])
    try raw.execute("DELETE FROM t WHERE id = 1")
    #expect(
      try [words(watch.nextLine()), words(watch.nextLine())].sorted() == [
        "delete 1 2 -", "insert 98 - 2 slid",
      ])
    let ending = try watch.finish()
    #expect(ending.code == 0 && !ending.err.contains("all records are read"), "\(ending)")
  }

  @Test func withoutAnIndexItSaysThatEverythingIsRead() throws {
    let (place, _) = try scores("CREATE INDEX byN ON t (n)")
    func talk(_ words: String...) throws -> String {
      try place.runProcess(["watch", "t", "--timeout", "0s"] + words).err
    }
    let notice = "all records are read first"
    #expect(try talk("--sort", "m", "--limit", "3").contains(notice))
    #expect(try talk("--sort", "n,-m", "--limit", "3").contains(notice))
    // The key ascends unless it is named.
    #expect(try talk("--sort", "-n", "--limit", "3").contains(notice))
    #expect(try !talk("--sort", "-n,-id", "--limit", "3").contains(notice))
    #expect(try !talk("--sort", "n", "--limit", "3").contains(notice))
    #expect(try !talk("--limit", "3").contains(notice))
    #expect(try talk("--sort", "n", "--limit", "5000").contains(notice))
    // Without a window, everything is followed, as asked.
    #expect(try !talk("--sort", "m").contains(notice))
  }

  @Test func whatAWindowCannotBeIsRefused() throws {
    let (place, _) = try scores("")
    for words in [
      ["--limit", "3"], ["t", "--limit", "0"], ["t", "--offset", "-1"],
      ["t", "--limit", "3", "--since", "0"], ["t", "--offset", "3", "--consumer", "c"],
    ] {
      #expect(try place.run(["watch"] + words).code == 64, "\(words)")
    }
  }
}
