import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct SQLTextTests {
  @Test func interpolatedValuesBecomeArguments() {
    let name = "a\"b"
    let text: SQLText =
      "SELECT \(identifier: name) FROM t WHERE a = \(1) AND b = \("x'y") AND c = \(2.5) AND d = \(SQLValue.null)"
    #expect(
      text
        == SQLText(
          sql: "SELECT \"a\"\"b\" FROM t WHERE a = ? AND b = ? AND c = ? AND d = ?",
          arguments: [.integer(1), .text("x'y"), .real(2.5), .null]))
  }

  @Test func randomIdentifiersStayNames() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("identifiers: seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let scratch = try ScratchDatabase(cacheCapacity: 1)
    for _ in 0..<100_000 {
      let name = randomName(&generator)
      let wanted = name.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }
      let found = try scratch.connection.withStatement(
        "SELECT 1 AS \(SQLText.quoted(name))"
      ) { statement in
        statement.columnCount == 1
          ? statement.columnName(at: 0) : "\(statement.columnCount) columns"
      }
      guard Array(found.unicodeScalars) != wanted else { continue }
      Issue.record("\(name.debugDescription) was read as \(found.debugDescription), seed \(seed)")
      return
    }
  }

  @Test func randomIdentifiersNameTablesAndColumns() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("tables: seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let scratch = try ScratchDatabase("CREATE TABLE safe(x); INSERT INTO safe VALUES (1)")
    for _ in 0..<300 {
      let table = "t" + randomName(&generator)
      let column = "c" + randomName(&generator)
      try scratch.connection.run(
        "CREATE TABLE \(identifier: table) (\(identifier: column) TEXT)")
      try scratch.connection.run(
        "INSERT INTO \(identifier: table) (\(identifier: column)) VALUES (\(column))")
      let rows = try scratch.connection.rows(
        "SELECT \(identifier: table).\(identifier: column) FROM \(identifier: table)"
      ) { try $0.text(at: 0) }
      #expect(rows == [column], "seed \(seed)")
      try scratch.connection.run("DROP TABLE \(identifier: table)")
    }
    #expect(
      try scratch.connection.rows("SELECT name FROM sqlite_schema") { try $0.text(at: 0) }
        == ["safe"])
  }

  @Test func randomLiteralsStayText() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("literals: seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let scratch = try ScratchDatabase(cacheCapacity: 1)
    for _ in 0..<5_000 {
      let text = randomName(&generator).unicodeScalars.filter { $0 != "\0" }
      let wanted = String(String.UnicodeScalarView(text))
      let found = try scratch.connection.firstRow(SQLText(sql: "SELECT \(SQLText.literal(wanted))"))
      {
        try $0.text(at: 0)
      }
      #expect(found.map { Array($0.utf8) } == Array(wanted.utf8), "seed \(seed)")
    }
  }

  @Test(arguments: [
    ("select 1", "SELECT"), ("  \n-- BEGIN\n/* COMMIT */ commit", "COMMIT"), (";;END", "END"),
    ("\u{FEFF}COMMIT", "COMMIT"), (" \u{FEFF} /**/\u{FEFF}attach 'x' as y", "ATTACH"), ("", ""),
    ("/* open", ""), ("-- open", ""), ("(SELECT 1)", ""),
  ])
  func theFirstKeywordIsWhatSQLiteReads(sql: String, keyword: String) {
    #expect(SQLText.firstKeyword(of: sql) == keyword)
  }
}

/// A name of 0 to 12 characters, most of which mean something to SQL.
private func randomName(_ generator: inout SeededGenerator) -> String {
  let special: [Unicode.Scalar] = [
    "\"", "'", "`", "[", "]", ";", "-", "/", "*", "(", ")", ",", ".", "?", ":", "@", "$", "%", "\\",
    "\n", "\r", "\t", " ", "\0", "\u{1}", "\u{7F}", "\u{FEFF}", "\u{301}", "ä", "中", "\u{10FFFF}",
  ]
  var view = String.UnicodeScalarView()
  for _ in 0..<Int.random(in: 0...12, using: &generator) {
    if Bool.random(using: &generator), let scalar = special.randomElement(using: &generator) {
      view.append(scalar)
    } else if let scalar = Unicode.Scalar(UInt32.random(in: 1...0xFFFF, using: &generator)) {
      view.append(scalar)
    }
  }
  return String(view)
}
