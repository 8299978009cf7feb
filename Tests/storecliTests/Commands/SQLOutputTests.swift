import Foundation
import ModelStore
import RecordFormats
import Testing

@testable import StoreCommand

/// `-o sql` and `-0`: output for the `sqlite3` shell and for `xargs -0`.
@Suite(.tags(.process)) struct SQLOutputTests {
  private static let table = """
    CREATE TABLE "Odd ""Thing" (
      "id" INTEGER PRIMARY KEY, "a" ANY, "b column" BLOB, "double" REAL, "twice" AS ("id" * 2))
    """

  private func odd(_ rows: String) throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("odd.db")).execute(Self.table + ";" + rows)
    place.environment["STORECLI_DB"] = place.path("odd.db")
    try #require(try place.run("adopt").code == 0)
    return place
  }

  /// All values, with their types and bits.
  private static let fingerprint = """
    SELECT group_concat(id || typeof(a) || coalesce(hex(a), '') || coalesce(hex("b column"), '-')
      || coalesce(typeof(double), '') || printf('%!.26g', double), '|')
    FROM (SELECT * FROM "Odd ""Thing" ORDER BY id)
    """

  @Test func theStatementsRestoreEveryValue() throws {
    let place = try odd(
      """
      INSERT INTO "Odd ""Thing" VALUES
        (1, 'it''s', x'00ff', 0.1), (2, char(97, 0, 98), x'', 9e999), (3, NULL, NULL, -9e999),
        (4, 'line' || char(10) || 'tab' || char(9) || char(27) || '[1m', zeroblob(3), 5e-324),
        (-9223372036854775808, 9223372036854775807, 'text', 1.7976931348623157e308),
        (6, '', x'27', 0.30000000000000004), (7, char(0), 1.5, -2.2250738585072014e-308),
        (8, 'e' || char(769) || '''' || char(769), 3, 123456789012345680000.0);
      """)
    let outcome = try place.run("query", "Odd \"Thing", "-o", "sql", "-q")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(!outcome.out.contains("\0") && !outcome.out.contains("\u{1B}"))
    #expect(
      outcome.out.hasPrefix(
        #"INSERT INTO "Odd ""Thing" ("id", "a", "b column", "double") VALUES ("#),
      "\(outcome.out)")
    let copy = try RawDatabase(place.path("copy.db"))
    try copy.execute(Self.table + ";" + outcome.out)
    let original = try RawDatabase(place.path("odd.db"))
    #expect(try copy.value(Self.fingerprint) == original.value(Self.fingerprint))
    #expect(try place.run("export", "Odd \"Thing", "--to", "x.sql", "-q").code == 0)
    #expect(try place.contents(of: "x.sql") == outcome.out)
    #expect(
      try place.run("get", "Odd \"Thing", "6", "-o", "sql").out
        == #"INSERT INTO "Odd ""Thing" ("id", "a", "b column", "double") "#
        + "VALUES (6, '', x'27', (1351079888211149.0 / 4503599627370496.0));\n")
  }

  /// SQLite reads each literal as the same bits.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func everyRealIsExact(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let store = try Store.inMemory()
    for _ in 0..<300 {
      let number = Double(bitPattern: UInt64.random(in: .min ... .max, using: &generator))
      guard !number.isNaN else { continue }
      let literal = SQLLiteral.text(of: .real(number))
      let row = try store.read { reads in try reads.rows(SQLText(sql: "SELECT \(literal)")) }
      #expect(row.first?.values == [.real(number)], "seed \(seed): \(number) as \(literal)")
    }
  }

  @Test(arguments: [
    ["history", "-o", "sql"], ["models", "-o", "sql"], ["query", "--sql", "SELECT 1", "-o", "sql"],
    ["query", "Artist", "--count", "-o", "sql"], ["update", "Artist", "1", "name=x", "-o", "sql"],
    ["query", "Album", "--expand", "artistID", "-o", "sql"],
    ["query", "Artist", "--by", "founded", "--count", "-o", "sql"],
    ["query", "Artist", "-0", "--json"], ["query", "Artist", "-0", "--escape-formulas"],
  ])
  func whatHasNoSuchFormIsRefused(words: [String]) throws {
    let place = try Workplace()
    try place.makeMusic()
    let outcome = try place.run(words)
    #expect(outcome.code == 64 && outcome.out.isEmpty, "\(outcome)")
    #expect(try place.run("get", "Artist", "1", "--fields", "name").out != "x\n")
  }

  @Test func valuesEndWithNUL() throws {
    let place = try odd(
      """
      INSERT INTO "Odd ""Thing" (id, a) VALUES (1, 'a' || char(10) || 'b' || char(9)), (2, NULL);
      """)
    let words = ["query", "Odd \"Thing", "--fields", "id,a", "-q"]
    #expect(try place.run(words + ["-0"]).out == "1\0a\nb\t\0" + "2\0\0")
    #expect(try place.run(words + ["--nul", "--header"]).out.hasPrefix("id\0a\0" + "1\0"))
    #expect(try place.run(["-0"] + words).out == "1\0a\nb\t\0" + "2\0\0")
    #expect(try place.run("export", "Odd \"Thing", "-0", "--fields", "id").out == "1\0" + "2\0")
    try RawDatabase(place.path("odd.db")).execute("UPDATE \"Odd \"\"Thing\" SET a = char(0)")
    let refused = try place.run(words + ["-0"])
    #expect(refused.code == 1 && refused.err.contains("a text in a contains a NUL"), "\(refused)")
  }
}
