import Testing

@testable import ModelStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite(.tags(.unit)) struct PredicateParserTests {
  /// 2026-09-01 12:30:00.5 UTC.
  private let now = Date(timeIntervalSinceReferenceDate: 809_958_600.5)
  private let todo = ModelSchema(
    name: "Todo",
    fields: [
      FieldSchema(name: "id", type: .integer, isRowID: true),
      FieldSchema(name: "title", type: .text),
      FieldSchema(name: "done", type: .boolean), FieldSchema(name: "due", type: .date),
      FieldSchema(name: "weight", type: .real), FieldSchema(name: "ref", type: .uuid),
      FieldSchema(name: "price", type: .decimal), FieldSchema(name: "image", type: .blob),
      FieldSchema(name: "site", type: .url), FieldSchema(name: "tags", type: .json),
      FieldSchema(name: "extra", type: .any), FieldSchema(name: "Unit Price", type: .real),
      FieldSchema(name: "or", type: .integer), FieldSchema(name: "größe", type: .integer),
      FieldSchema(name: "created", type: .text, declaredType: "DATETIME"),
      FieldSchema(name: "finished", type: .date),
      FieldSchema(name: "paid", type: .any, declaredType: "DATETIME"),
    ], key: ["id"])

  private func line(_ text: String) throws -> String {
    let parser = PredicateParser(schema: todo, now: now)
    return try QueryFixtures.line(parser.condition(parsing: text), todo)
  }

  @Test(arguments: [
    ("done == false && due < today", #""done" = 0 AND "due" < 809913600.0"#),
    ("id=1", #""id" = 1"#),
    ("id == 1 or id<>2 OR id != 3", #""id" = 1 OR "id" <> 2 OR "id" <> 3"#),
    ("1<id and 2 <=id && id>3 AND id>= 4", #"1 < "id" AND 2 <= "id" AND "id" > 3 AND "id" >= 4"#),
    ("id = 1 or id = 2 and id = 3", #""id" = 1 OR ("id" = 2 AND "id" = 3)"#),
    ("(id = 1 || id = 2) and not id = 3", #"("id" = 1 OR "id" = 2) AND NOT ("id" = 3)"#),
    ("!done and !(id = 1)", #"NOT ("done" <> 0) AND NOT ("id" = 1)"#),
    ("done or done is true", #""done" <> 0 OR "done" IS 1"#),
    ("title is null or title IS NOT NULL", #""title" IS NULL OR "title" IS NOT NULL"#),
    ("title == null && null != title", #""title" IS NULL AND "title" IS NOT NULL"#),
    ("title is 'a' or title is not 'b'", #""title" IS 'a' OR "title" IS NOT 'b'"#),
    ("id in (1, -2,+ 3) or id not in ()", #""id" IN (1, -2, 3) OR NOT ("id" IN ())"#),
    ("id between 1 and 5 and done", #""id" BETWEEN 1 AND 5 AND "done" <> 0"#),
    ("id not between \"or\" and id", #"NOT ("id" BETWEEN "or" AND "id")"#),
    (
      "title like 'So%' and title not like '%''s'",
      #""title" LIKE 'So%' AND NOT ("title" LIKE '%''s')"#
    ),
    (
      "title glob '[a-c]*' or title not glob ''", #""title" GLOB '[a-c]*' OR NOT ("title" GLOB '')"#
    ),
    ("true and not false or null", #"(TRUE AND NOT (FALSE)) OR NULL"#),
    ("\"Unit Price\" > 1e2 and \"or\" = 1", #""Unit Price" > 100.0 AND "or" = 1"#),
    ("GRÖßE > 1 AND Title = ''", #""größe" > 1 AND "title" = ''"#),
    (
      "due = '2026-09-01' or due > '2026-09-01T00:00:01.5+01:00'",
      #""due" = 809913600.0 OR "due" > 809910001.5"#
    ),
    ("due <= now and finished >= due", #""due" <= 809958600.5 AND "finished" >= "due""#),
    (
      "created < today or created = now",
      #""created" < '2026-09-01' OR "created" = '2026-09-01 12:30:00'"#
    ),
    (
      "ref = 'c0ffee00-0000-4000-8000-00000000000a'",
      #""ref" = 'C0FFEE00-0000-4000-8000-00000000000A'"#
    ),
    (
      "price = 1.50 or price = '2' or price in (03)",
      #""price" = '1.5' OR "price" = '2' OR "price" IN ('3')"#
    ),
    ("image = x'0aFF' or image = 'base64:Cv8='", #""image" = x'0aff' OR "image" = x'0aff'"#),
    (
      "weight = 5 or weight < -.5 or weight = 9007199254740993",
      #""weight" = 5.0 OR "weight" < -0.5 OR "weight" = 9007199254740993"#
    ),
    (
      "id > 1.5 or id = 9223372036854775807 or id > -9223372036854775808",
      #""id" > 1.5 OR "id" = 9223372036854775807 OR "id" > -9223372036854775808"#
    ),
    ("id = '12' or done = 'yes'", #""id" = 12 OR "done" = 1"#),
    ("paid < today", #""paid" < '2026-09-01'"#),
    (
      "extra = 1 or extra = 'a' or extra = x'' or extra = true",
      #""extra" = 1 OR "extra" = 'a' OR "extra" = x'' OR "extra" = 1"#
    ),
    (
      "tags = '[\"a\"]' and site = 'https://example.org/'",
      #""tags" = '["a"]' AND "site" = 'https://example.org/'"#
    ),
    ("1 = 1 or 'a' < 'b'", #"1 = 1 OR 'a' < 'b'"#),
  ])
  func textBecomesACondition(text: String, wanted: String) throws {
    #expect(try line(text) == wanted)
  }

  @Test(arguments: [
    ("", "Expected a condition; the text ends here. (column 1)"),
    ("  ", "Expected a condition; the text ends here. (column 3)"),
    (
      "titel = 'x'",
      "Todo has no field titel. (column 1) Did you mean title?"
    ),
    ("title = Rock", "Todo has no field Rock; put text in single quotes. (column 9)"),
    ("title = \"Rock\"", "Todo has no field Rock; put text in single quotes. (column 9)"),
    ("id = 'abc'", "id takes a whole number within 64 bits; got “abc”. (column 6)"),
    ("title = 5", "title takes text between single quotes; got 5. (column 9)"),
    (
      "due < 2026-09-01",
      "due takes a date such as '2026-09-01', today or now; got 2026. (column 7)"
    ),
    (
      "due < '2026-02-30'",
      "due takes a date such as 2026-09-01 or 2026-09-01T12:30:00Z; got “2026-02-30”. (column 7)"
    ),
    ("done = 2", "done takes true or false; got 2. (column 8)"),
    ("id = 99999999999999999999", "99999999999999999999 does not fit 64 bits. (column 6)"),
    ("weight < 1e999", "1e999 is too large for a number. (column 10)"),
    ("extra = now", "extra takes a literal; got now. (column 9)"),
    ("id = today", "id takes a number; got today. (column 6)"),
    (
      "price > 3",
      "price is a decimal, which is stored as text and cannot be compared by size. (column 9)"
    ),
    ("image = x'0'", "x'0' needs pairs of hexadecimal digits. (column 9)"),
    ("image = 5", "image takes bytes such as x'0aff'; got 5. (column 9)"),
    ("id = title", "id (integer) and title (text) cannot be compared. (column 6)"),
    ("id < null", "null is neither less nor greater than anything. (column 6)"),
    ("id between 1 and null", "null is neither less nor greater than anything. (column 18)"),
    (
      "id in (1, null)",
      "null in a list matches nothing. After the list, add “or id is null”; after a list of not in, “and id is not null”. (column 11)"
    ),
    (
      "id in (title)",
      "A list contains values, not fields; put text in single quotes. (column 8)"
    ),
    ("id in (1 2)", "Expected a comma or ); found 2. (column 10)"),
    ("id in 1", "Expected ( and a list of values; found 1. (column 7)"),
    ("5 in (1)", "in must follow a field. (column 1)"),
    ("1 < id < 5", "Comparisons do not chain; join them with and, or use between. (column 8)"),
    ("id", "Expected a comparison after id; the text ends here. (column 3)"),
    ("id and done", "Expected a comparison after id; found and. (column 4)"),
    ("id not between or and id", "Expected the lower bound; found or. (column 16)"),
    ("id =", "Expected a value or a field; the text ends here. (column 5)"),
    ("id = 1 done", "Expected and, or, or the end; found done. (column 8)"),
    ("(id = 1", "Expected and, or, or ); the text ends here. (column 8)"),
    ("id not 5", "Expected in, between, like or glob; found 5. (column 8)"),
    ("title like 5", "Expected a pattern between single quotes; found 5. (column 12)"),
    ("due like '2026%'", "due has type date; patterns match text. (column 10)"),
    ("title = 'abc", "The text has no closing '. (column 9)"),
    ("id = 1; drop table Todo", "The character ; has no meaning here. (column 7)"),
    ("id & 1", "Write && or and. (column 4)"),
    ("id = 12abc", "12abc is not a number; put text in single quotes. (column 6)"),
    ("id = - done", "Expected a number after -; found done. (column 8)"),
    (
      "title = '😀é' or idd = 1",
      "Todo has no field idd. (column 17) Did you mean id?"
    ),
  ])
  func syntaxErrorsPointAtTheirPlace(text: String, wanted: String) {
    let error = #expect(throws: PredicateTextError.self) { try line(text) }
    #expect(error?.description == wanted)
  }

  @Test func anErrorGivesItsPlaceInBytesAndCharacters() throws {
    let thrown = #expect(throws: PredicateTextError.self) { try line("title = '😀é' or idd = 1") }
    let error = try #require(thrown)
    #expect(
      error
        == PredicateTextError(
          kind: .unknownField, message: "Todo has no field idd.",
          utf8Offset: 20, characterOffset: 16, token: "idd", candidates: ["id"], model: "Todo"))
    #expect(error.storeError.code == .unknownField)
    #expect(error.storeError.field == "idd")
    let codes = ["id == 'x'", "id ==", String(repeating: "(", count: 200)].map { text in
      #expect(throws: PredicateTextError.self) { try line(text) }?.storeError.code
    }
    #expect(codes == [.invalidValue, .invalidQuery, .invalidQuery])
  }

  @Test func hugeTextsAreRefused() throws {
    let long = "title = '" + String(repeating: "x", count: 2_000_000) + "'"
    let many = "id in (" + (0...32_000).map { "\($0)" }.joined(separator: ",") + ")"
    let deep = String(repeating: "(", count: 5_000) + "done" + String(repeating: ")", count: 5_000)
    let nots = String(repeating: "not ", count: 5_000) + "done"
    let kinds = [long, many, deep, nots].map { text in
      #expect(throws: PredicateTextError.self) { try line(text) }?.kind
    }
    #expect(kinds == [.tooLarge, .tooLarge, .tooLarge, .tooLarge])
    let levels = PredicateParser.depthMax
    let allowed =
      String(repeating: "(", count: levels) + "done" + String(repeating: ")", count: levels)
    #expect(try line(allowed) == #""done" <> 0"#)
  }

  /// Whether the parser takes `text`, and then SQLite in the longest statement that a query makes.
  private func isTaken(_ text: String, on connection: Connection) throws -> Bool {
    do {
      let condition = try PredicateParser(schema: todo, now: now).condition(parsing: text)
      let selection = try StoreQuery<DynamicRecord>(todo, where: condition, limit: 5, offset: 2)
        .selectionText()
      try connection.withStatement(
        "EXPLAIN QUERY PLAN UPDATE \"Todo\" SET id = ?, title = ? \(selection.sql)"
      ) { _ in }
      return true
    } catch let error as PredicateTextError {
      #expect(error.kind == .tooLarge)
      return false
    }
  }

  @Test(arguments: [
    ("(done = 1 or weight = 1 and ", 11), ("not (done or weight = 1 and ", 9),
    ("(not done and (weight = 1 or ", 10),
    ("(" + String(repeating: "done or ", count: 90) + "weight = 1 and ", 9),
    ("(" + String(repeating: "done or ", count: 400) + "weight = 1 and ", 4),
  ])
  func sqliteAcceptsEveryParsedPredicate(level: String, least: Int) throws {
    let columns = todo.fields.map { SQLText.quoted($0.column) }.joined(separator: ", ")
    let scratch = try ScratchDatabase("CREATE TABLE \"Todo\" (\(columns))")
    let opened = level.count { $0 == "(" }
    let taken = try (1...PredicateParser.depthMax).map { count in
      try isTaken(
        String(repeating: level, count: count) + "id in (1, 2)"
          + String(repeating: ")", count: count * opened), on: scratch.connection)
    }
    let deepest = taken.prefix { $0 }.count
    #expect(deepest >= least)
    #expect(taken.dropFirst(deepest).allSatisfy { !$0 })
  }

  @Test func anErrorAboutDepthPointsAtTheDeepestParenthesis() throws {
    let level = "(done = 1 or weight = 1 and "
    let text =
      String(repeating: level, count: 16) + "done" + String(repeating: ")", count: 16)
    let error = #expect(throws: PredicateTextError.self) { try line(text) }
    #expect(error?.kind == .tooLarge)
    #expect(error?.token == "(")
    #expect(error?.utf8Offset == level.utf8.count * 15)
  }

  @Test func wholeNumbersBeyond64BitsAreRealsBesideAReal() throws {
    #expect(try line("weight < 18446744073709551616") == #""weight" < 1.8446744073709552e+19"#)
    #expect(try line("weight > -9223372036854775809") == #""weight" > -9.223372036854776e+18"#)
    #expect(throws: PredicateTextError.self) { try line("id < 18446744073709551616") }
  }

  @Test func decimalsCannotBeOrdered() throws {
    let parser = PredicateParser(schema: todo, now: now)
    let error = #expect(throws: PredicateTextError.self) {
      try parser.orderings(parsing: "title, -price")
    }
    #expect(error?.kind == .value)
    #expect(error?.token == "price")
    let query = StoreQuery<DynamicRecord>(todo, orderings: [QueryOrdering(fieldIndex: 6)])
    #expect(throws: StoreError.self) { try query.selectText() }
    // With a collation of its own the order is the text's, as asked for.
    let byText = StoreQuery<DynamicRecord>(
      todo, orderings: [QueryOrdering(fieldIndex: 6, collation: .binary)])
    #expect(try byText.selectText().sql.contains(#"ORDER BY "price""#))
  }

  @Test func namesThatDifferOnlyInCaseMustBeExact() throws {
    let twins = ModelSchema(
      name: "T",
      fields: [FieldSchema(name: "A", type: .integer), FieldSchema(name: "a", type: .integer)],
      key: ["A"])
    let parser = PredicateParser(schema: twins, now: now)
    #expect(
      try QueryFixtures.line(parser.condition(parsing: "a = 1 and A = 2"), twins)
        == #""a" = 1 AND "A" = 2"#)
  }

  @Test func ordersAreRead() throws {
    let parser = PredicateParser(schema: todo, now: now)
    #expect(
      try parser.orderings(parsing: "-due, title,+ID , -\"Unit Price\"") == [
        QueryOrdering(fieldIndex: 3, direction: .descending), QueryOrdering(fieldIndex: 1),
        QueryOrdering(fieldIndex: 0), QueryOrdering(fieldIndex: 11, direction: .descending),
      ])
    let messages = ["", "due,", "-", "due title", "duee", "5"].map { text in
      #expect(throws: PredicateTextError.self) { try parser.orderings(parsing: text) }?.description
    }
    #expect(
      messages == [
        "Expected a field to order by; the text ends here. (column 1)",
        "Expected a field to order by; the text ends here. (column 5)",
        "Expected a field to order by; the text ends here. (column 2)",
        "Expected a comma or the end; found title. (column 5)",
        "Todo has no field duee. (column 1) Did you mean due?",
        "Expected a field to order by; found 5. (column 1)",
      ])
  }

  /// Whatever the text, the parser answers or throws its one error; it never traps.
  @Test(arguments: [UInt64(7), 77])
  func randomTextsNeverTrap(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let pieces = [
      "id", "title", "due", "done", "\"or\"", "(", ")", ",", "=", "<", "<=", "!=", "!", "&&", "||",
      "and", "or", "not", "is", "null", "in", "between", "like", "glob", "true", "today", "'a'",
      "'", "\"", "x'0a'", "x'", "5", "-", "1.5e3", ".", "é", "😀", "\0", "--", "\n", "2026-09-01",
    ]
    let parser = PredicateParser(schema: todo, now: now)
    var understood = 0
    for _ in 0..<20_000 {
      let count = Int.random(in: 0...8, using: &random)
      let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }
        .joined(separator: Bool.random(using: &random) ? " " : "")
      do {
        _ = try parser.condition(parsing: text).sqlText(schema: todo)
        understood += 1
      } catch let error as PredicateTextError {
        #expect(
          text.utf8.dropFirst(error.utf8Offset).starts(with: error.token.utf8),
          "seed \(seed): \(text)")
      }
    }
    #expect(understood > 50, "seed \(seed)")
  }
}
