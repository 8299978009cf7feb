internal import Testing

@testable internal import ModelStore

@Suite(.tags(.unit)) struct SQLTokensTests {
  @Test(arguments: [
    "SELECT 'it''s', \"a\"\"b\", [c d], `e` -- end\nFROM t /* x */ WHERE a>=1.5e-3",
    "x'00ff' ?1 :name @a $b #c 0x1F 1e 'open", "/* open", "\"open", "[open", "", "é中🎵",
  ])
  func tokensCoverTheTextWithoutGaps(sql: String) {
    let source = SQLTokens(sql)
    #expect(source.tokens.map { source.text($0.range) }.joined() == sql)
  }

  @Test func tokensAreCutAsSQLiteCutsThem() {
    let source = SQLTokens("x'0f' X [a]]'b''c' 1.5e-3-0x1e-2 ->>--c\n.5/*d*/é$1")
    #expect(
      source.significant.map { "\($0.kind) \(source.text($0.range))" } == [
        "blob x'0f'", "word X", "quotedName [a]", "symbol ]", "string 'b''c'", "number 1.5e-3",
        "symbol -", "number 0x1e", "symbol -", "number 2", "symbol -", "symbol >", "symbol >",
        "number .5", "word é$1",
      ])
  }

  @Test func namesLoseTheirQuotes() {
    let source = SQLTokens(#""a""b" `c``d` [e"f] g 'h''i' """""#)
    #expect(
      source.significant.map(source.name) == ["a\"b", "c`d", "e\"f", "g", "h'i", "\""])
  }

  @Test(arguments: [
    ("SELECT 1", "SELECT  1 -- one\r\n"),
    ("SELECT 'a  b'", "\r\n\r\nSELECT/* x */'a  b'\n\n"),
    ("CREATE TABLE t ( a )", "CREATE TABLE t (\r\n\ta\r\n)   "), ("", " -- nothing"),
  ])
  func normalFormHasOneSpaceForEachGap(expected: String, sql: String) {
    #expect(SQLTokens(sql).normalized == expected)
    #expect(SQLTokens(expected).normalized == expected)
  }

  @Test func normalFormKeepsStringsAsWritten() {
    #expect(
      SQLTokens("SELECT  '-- no\r\n  /* comment */' ,\"a  b\"--c").normalized
        == "SELECT '-- no\r\n  /* comment */' ,\"a  b\"")
  }

  @Test func scriptsAreCutIntoStatements() {
    let script = """
      CREATE TABLE t (a DEFAULT ';'); ;
      CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN
        UPDATE t SET a = CASE WHEN 1 THEN 2 END; -- ; END ;
        SELECT 1;
      END;
      SELECT 2 -- no semicolon
      """
    #expect(
      SQLTokens(script).statements == [
        "CREATE TABLE t (a DEFAULT ';')",
        """
        CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN
          UPDATE t SET a = CASE WHEN 1 THEN 2 END; -- ; END ;
          SELECT 1;
        END
        """,
        "SELECT 2",
      ])
  }

  @Test(arguments: [
    ("CREATE TEMP TABLE a (x)", true), ("create temporary view a as select 1", true),
    (";/* x */ CREATE TEMP TRIGGER a", true), ("CREATE TABLE temp.a (x)", true),
    ("CREATE TRIGGER IF NOT EXISTS \"Temp\" . a", true), ("CREATE VIRTUAL TABLE [temp].a", true),
    ("CREATE TABLE temp (x)", false), ("CREATE TABLE main.temp (x)", false),
    ("CREATE TABLE a (temp)", false), ("DROP TABLE temp.a", false), ("CREATE", false), ("", false),
  ])
  func temporaryObjectsAreRecognised(sql: String, expected: Bool) {
    #expect(SQLTokens(sql).createsTemporary == expected)
  }

  @Test(arguments: ["\u{09}", "\u{0A}", "\u{0B}", "\u{0C}", "\u{0D}", " ", "\u{FEFF}"])
  func everyBlankOfSQLiteSeparatesWords(blank: String) {
    #expect(SQLTokens("CREATE \(blank)TEMP \(blank)TABLE a (x)").createsTemporary)
  }
}
