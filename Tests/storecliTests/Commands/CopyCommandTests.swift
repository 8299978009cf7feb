import Foundation
import Testing

/// `backup`, `restore` and `compact`.
@Suite(.tags(.process)) struct CopyCommandTests {
  /// A directory with `app.db`, which has three notes and a change journal.
  private func notes() throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("app.db")).execute(
      """
      CREATE TABLE Note(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
      INSERT INTO Note VALUES (1, 'one'), (2, 'two'), (3, 'three');
      """)
    place.environment["STORECLI_DB"] = place.path("app.db")
    try #require(try place.run("adopt").code == 0)
    try #require(try place.run("journal", "on").code == 0)
    return place
  }

  private func texts(_ place: Workplace, in name: String = "app.db") throws -> String {
    try RawDatabase(place.path(name)).value("SELECT group_concat(text) FROM Note")
  }

  private func size(_ place: Workplace, of name: String) throws -> Int {
    try place.url(name).resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
  }

  /// The files in the directory, except those of the database and what a run of it leaves.
  private func files(_ place: Workplace) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place.directory)
      .filter { !$0.hasPrefix("app.db") }.sorted()
  }

  @Test func aBackupIsReportedAndIsADatabase() throws {
    let place = try notes()
    try place.run("update", "Note", "1", "text=eins")
    let made = try place.run("backup", "copy.db", "--ndjson")
    let bytes = try size(place, of: "copy.db")
    let path = place.url("copy.db").resolvingSymlinksInPath().path
    #expect(
      made
        == Outcome(
          code: 0, out: "{\"file\":\"\(path)\",\"position\":3,\"bytes\":\(bytes)}\n", err: ""))
    #expect(try texts(place, in: "copy.db") == "eins,two,three")
    #expect(try place.run("diff", "app.db", "copy.db").code == 0)
    #expect(try files(place) == ["copy.db"])
    #expect(
      try place.run("backup", "other.db", "--csv", "--fields", "position,bytes", "-q")
        == Outcome(code: 0, out: "position,bytes\r\n3,\(bytes)\r\n", err: ""))
  }

  @Test func aBackupReplacesAFileOnlyWithReplace() throws {
    let place = try notes()
    try place.write("precious", to: "copy.db")
    #expect(
      try place.run("backup", "copy.db")
        == Outcome(
          code: 1, out: "",
          err: """
            error[fileExists]: There is already a file at copy.db.
            hint: choose another name, or add --replace

            """))
    #expect(try place.contents(of: "copy.db") == "precious")
    #expect(try place.run("backup", "copy.db", "--replace").code == 0)
    #expect(try texts(place, in: "copy.db") == "one,two,three")
    let own = try place.run("backup", "app.db", "--replace")
    #expect(
      own
        == Outcome(
          code: 1, out: "",
          err: """
            error[misuse]: app.db is the database itself, or a file of it.
            hint: choose another name for the copy

            """))
    #expect(try texts(place) == "one,two,three")
  }

  @Test func whatCannotBeCopiedHasAStatusOfItsOwn() throws {
    let place = try notes()
    #expect(try place.run("backup", "copy.db", "-d", "missing.db").code == 3)
    let nowhere = try place.run("backup", "missing/copy.db")
    #expect(nowhere.code == 3 && !nowhere.err.contains("hint:"), "\(nowhere)")
    #expect(try place.run("backup").code == 64)
    #expect(
      try place.run("restore", "ap.db", "--yes")
        == Outcome(
          code: 3, out: "",
          err: "error[fileNotFound]: There is no file at ap.db; did you mean ./app.db?\n"))
    #expect(try place.run("restore").code == 64)
    #expect(try place.run("compact", "-d", "missing.db").code == 3)
    try place.write(String(repeating: "text ", count: 1000), to: "text.db")
    let text = try place.run("restore", "text.db", "--yes")
    #expect(text.code == 1 && text.err.hasPrefix("error[notADatabase]: "), "\(text)")
    try RawDatabase(place.path("plain.db")).execute("CREATE TABLE t(a)")
    let plain = try place.run("restore", "plain.db", "--yes", "--json")
    #expect(
      plain.code == 1 && plain.err.hasPrefix("{\"error\":{\"code\":\"unsupportedSchema\""),
      "\(plain)")
    #expect(try texts(place) == "one,two,three")
    #expect(try files(place) == ["plain.db", "text.db"])
  }

  @Test func aBackupIsRestoredAfterAQuestion() throws {
    let place = try notes()
    try place.run("backup", "copy.db")
    try place.run("delete", "Note", "2")
    let refused = try place.run("restore", "copy.db")
    #expect(refused.code == 64 && refused.err.contains("add --yes"), "\(refused)")
    let path = place.url("app.db").resolvingSymlinksInPath().path
    #expect(
      try place.run("restore", "copy.db", "-n")
        == Outcome(
          code: 0, out: "",
          err: "dry run: \(path) would get the content of copy.db, position 1\n"))
    #expect(try texts(place) == "one,three")
    let restored = try place.run("restore", "copy.db", "--yes", "--ndjson", "-q")
    #expect(restored.code == 0 && restored.err == "", "\(restored)")
    #expect(restored.out.contains("\"position\":1"), "\(restored)")
    #expect(try texts(place) == "one,two,three")
    // The journal goes on.
    #expect(try place.run("update", "Note", "3", "text=drei").code == 0)
    #expect(try place.run("undo").code == 0)
    #expect(try texts(place) == "one,two,three")
    #expect(try place.run("doctor").code == 0)
  }

  @Test func aMissingDatabaseIsCreatedWithoutAQuestion() throws {
    let place = try notes()
    try place.run("backup", "copy.db")
    #expect(try place.run("restore", "copy.db", "-d", "new.db").code == 0)
    #expect(try texts(place, in: "new.db") == "one,two,three")
    #expect(try files(place) == ["copy.db", "new.db"])
  }

  @Test func aLockedDatabaseIsBusy() throws {
    let place = try notes()
    try place.run("backup", "copy.db")
    let other = try RawDatabase(place.path("app.db"))
    try other.execute("BEGIN IMMEDIATE; UPDATE Note SET text = 'other' WHERE id = 1")
    #expect(
      try place.run("restore", "copy.db", "--yes", "--busy-timeout", "0").code == 5)
    // Another program's open transaction is not in a copy.
    #expect(try place.run("backup", "during.db").code == 0)
    try other.execute("COMMIT")
    #expect(try texts(place) == "other,two,three")
    #expect(try texts(place, in: "during.db") == "one,two,three")
  }

  @Test func compactingReportsTheSizes() throws {
    let place = try notes()
    let raw = try RawDatabase(place.path("app.db"))
    try raw.execute("CREATE TABLE t(x); INSERT INTO t VALUES (zeroblob(300000)); DROP TABLE t")
    let before = try #require(
      Int(try raw.value("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")))
    let compacted = try place.run("compact", "--ndjson")
    let after = try size(place, of: "app.db")
    #expect(
      compacted
        == Outcome(code: 0, out: "{\"before\":\(before),\"after\":\(after)}\n", err: ""))
    #expect(after <= before - 300_000)
    #expect(try place.run("compact", "--csv", "-q").out == "before,after\r\n\(after),\(after)\r\n")
    #expect(try texts(place) == "one,two,three")
    #expect(try place.run("doctor").code == 0)
  }
}
