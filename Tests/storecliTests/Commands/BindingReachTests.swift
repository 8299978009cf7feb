import Foundation
import Testing

/// Values also flow through generated columns and ON UPDATE. A program that writes a record through
/// a binding must be allowed to write each dependent record.
@Suite(.tags(.process)) struct BindingReachTests {
  private func place(_ tables: String) throws -> Workplace {
    let place = try Workplace()
    try RawDatabase(place.path("data.db")).execute(tables)
    place.environment["STORECLI_DB"] = place.path("data.db")
    try succeed(["adopt"], in: place)
    return place
  }

  private func succeed(_ words: [String], in place: Workplace) throws {
    let outcome = try place.run(words)
    try #require(outcome.code == 0, "\(words): \(outcome)")
  }

  /// As a program leaves it that has a rule in Swift for the model.
  private func guardInSwift(_ model: String, in place: Workplace) throws {
    try RawDatabase(place.path("data.db")).execute(
      """
      INSERT INTO _ms_validators (name, format, definition)
      VALUES ('\(model).rule', 1, '{"model":"\(model)","name":"\(model).rule"}');
      """)
  }

  private let tables = """
    CREATE TABLE A (id INTEGER PRIMARY KEY, s TEXT, f TEXT UNIQUE, g TEXT AS (upper(f)));
    CREATE TABLE B (id INTEGER PRIMARY KEY, a INTEGER REFERENCES A (id), h TEXT);
    CREATE TABLE C (id INTEGER PRIMARY KEY, f TEXT REFERENCES A (F) ON UPDATE CASCADE);
    INSERT INTO A (id, s, f) VALUES (1, 'new', 'old');
    INSERT INTO B (id, a) VALUES (5, 1);
    INSERT INTO C (id, f) VALUES (1, 'old');
    """

  @Test(arguments: ["B", "C"])
  func modelsReachedThroughOtherBindingsAreWrittenToo(model: String) throws {
    let place = try place(tables)
    try succeed(["bindings", "add", "copy", "B.h", "--from", "A.g", "--through", "a"], in: place)
    try guardInSwift(model, in: place)
    let words = ["bindings", "add", "derive", "A.f", "--as", "s"]
    for ending in [["-n"], ["--yes"]] {
      let refused = try place.run(words + ending)
      #expect(
        refused.code == 4 && refused.err.contains("\(model) has validators in Swift"), "\(refused)")
    }
    try succeed(words + ["--yes", "--skip-code-validators"], in: place)
    #expect(try place.run("query", "B", "--fields", "h", "-q").out == "NEW\n")
  }

  @Test func whyFollowsGeneratedColumns() throws {
    let place = try place(tables)
    try succeed(["bindings", "add", "copy", "B.h", "--from", "A.g", "--through", "a"], in: place)
    try succeed(["bindings", "add", "derive", "A.f", "--as", "s", "--yes"], in: place)
    func told(_ words: String...) throws -> [String] {
      try place.run(["bindings", "why", "-q", "--ndjson"] + words).out.split(separator: "\n")
        .map { line in
          let line = try lineOf(line)
          return ["field", "record", "value"].map { line[$0] ?? "" }.joined(separator: " ")
        }
    }
    #expect(
      try told("B.h", "5")
        == ["A.s 1 new", "A.f 1 new", "A.g 1 NEW", "A.id 1 1", "B.a 5 1", "B.h 5 NEW"])
    #expect(try told("A.g", "1") == ["A.s 1 new", "A.f 1 new", "A.g 1 NEW"])
  }

  /// SQLite takes CODE and code for the same name; 2 is also the key of another record.
  @Test func whyFindsTheColumnThatAReferenceNames() throws {
    let place = try place(
      """
      CREATE TABLE A (id INTEGER PRIMARY KEY, code TEXT UNIQUE, v TEXT);
      CREATE TABLE B (id INTEGER PRIMARY KEY, a TEXT REFERENCES A (CODE), v TEXT);
      INSERT INTO A VALUES (1, '2', 'mine'), (2, '9', 'of another');
      INSERT INTO B (id, a) VALUES (7, '2');
      """)
    try succeed(["bindings", "add", "copy", "B.v", "--from", "A.v", "--through", "a"], in: place)
    #expect(
      try place.run("bindings", "why", "B.v", "7", "-q", "--fields", "field,record,value").out
        == "A.v\t1\tmine\nA.code\t1\t2\nB.a\t7\t2\nB.v\t7\tmine\n")
  }

  /// Then it is unknown which records are wrong.
  @Test func recordsThatCannotBeComparedMayBeWrong() throws {
    let place = try place(
      """
      CREATE TABLE P (id INTEGER PRIMARY KEY, n INTEGER);
      CREATE TABLE C (id INTEGER PRIMARY KEY, p INTEGER REFERENCES P (id));
      INSERT INTO P (id) VALUES (1);
      INSERT INTO C VALUES (1, 1), (2, 1);
      """)
    try succeed(
      [
        "bindings", "add", "aggregate", "P.n", "--function", "count", "--from", "C", "--through",
        "p",
      ], in: place)
    let raw = try RawDatabase(place.path("data.db"))
    try raw.execute(
      try raw.value(
        """
        SELECT group_concat('DROP ' || type || ' "' || name || '"', ';') FROM (
          SELECT type, name FROM sqlite_schema
          WHERE type IN ('trigger', 'table') AND name LIKE '\\_ms\\_binding\\_%' ESCAPE '\\'
          ORDER BY type DESC)
        """))
    try raw.execute("UPDATE P SET n = 9")
    try guardInSwift("P", in: place)
    let checked = try place.run("bindings", "check")
    #expect(checked.code == 2 && checked.err.contains("P.n: its values could not be compared"))
    let refused = try place.run("bindings", "rebuild")
    #expect(refused.code == 4 && refused.err.contains("P has validators in Swift"), "\(refused)")
    #expect(try raw.value("SELECT n FROM P") == "9")
    let skipping = ["bindings", "rebuild", "--skip-code-validators"]
    let previewed = try place.run(skipping + ["-n"])
    #expect(previewed.err.contains("P.n: 1 record would be updated"), "\(previewed)")
    #expect(try raw.value("SELECT n FROM P") == "9")
    let mended = try place.run(skipping)
    #expect(mended.code == 0 && mended.err.contains("P.n: 1 record updated"), "\(mended)")
    #expect(try raw.value("SELECT n FROM P") == "2")
    #expect(try place.run("bindings", "check").code == 0)
  }
}
