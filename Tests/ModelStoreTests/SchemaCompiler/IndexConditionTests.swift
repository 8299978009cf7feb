import Testing

@testable import ModelStore

/// Which conditions of partial indexes may be used in a trigger.
@Suite(.tags(.unit)) struct IndexConditionTests {
  /// A table with columns of many names, one of which compares as some program likes.
  private static let table: TableFacts = {
    var table = TableFacts(name: "Job", kind: .table)
    table.columns = ["id", "owner", "state", "text", "a b", "é"].map { ColumnFacts(name: $0) }
    table.columns.append(ColumnFacts(name: "foreign", collation: .custom("german")))
    return table
  }()

  private static func condition(_ text: String) -> IndexCondition? {
    IndexCondition(ofIndex: "CREATE UNIQUE INDEX \"where\" ON Job (owner)\(text)", on: table)
  }

  static let usable: [(text: String, sql: String, columns: Set<String>)] = [
    (" WHERE owner > 0", "owner > 0", ["owner"]),
    (" where owner > 0 -- why", "owner > 0", ["owner"]),
    (" WHERE/* why */ owner > 0 /* and so on", "owner > 0", ["owner"]),
    (" WHERE owner > 0 -- so\n AND id < 9", "owner > 0 -- so\n AND id < 9", ["owner", "id"]),
    (
      " WHERE state = 'open' OR OWNER IS NULL", "state = 'open' OR OWNER IS NULL",
      ["state", "owner"]
    ),
    (
      " WHERE \"State\" = '\"open\"' AND [a b] <> `é`", "\"State\" = '\"open\"' AND [a b] <> `é`",
      ["state", "a b", "é"]
    ),
    (
      " WHERE job.owner IN (1, -2.5, x'00') AND \"Job\".\"id\" NOTNULL",
      "job.owner IN (1, -2.5, x'00') AND \"Job\".\"id\" NOTNULL", ["owner", "id"]
    ),
    (
      " WHERE lower(state) LIKE 'o%' AND CAST(owner AS text) BETWEEN 1 AND (2)",
      "lower(state) LIKE 'o%' AND CAST(owner AS text) BETWEEN 1 AND (2)",
      // A type here, and a column's name.
      ["state", "owner", "text"]
    ),
    (" WHERE text = 'x' COLLATE nocase IS TRUE", "text = 'x' COLLATE nocase IS TRUE", ["text"]),
  ]

  @Test(arguments: usable.indices)
  func conditionsThatMeanTheSameEverywhereAreRecognised(_ index: Int) throws {
    let (text, sql, columns) = Self.usable[index]
    let found = try #require(Self.condition(text))
    #expect(found.sql == sql)
    #expect(found.columns == columns)
    // As a trigger has it, in a program that takes no names for texts.
    let database = try ScratchDatabase(
      "CREATE TABLE Job (id, owner, state, text, \"a b\", é, \"foreign\")")
    #expect(try database.connection.compiles("SELECT 1 FROM Job WHERE (\(found.sql)) AND 1"))
  }

  @Test(arguments: [
    "", " WHERE state = \"open\"", " WHERE \"Job\".state = \"open\"", " WHERE \"lower\"(state) = 1",
    " WHERE open_state(state) = 1", " WHERE state REGEXP 'o.*'", " WHERE state MATCH 'o'",
    " WHERE state ->> '$.a' = 1", " WHERE json_valid(state)", " WHERE date(state) > '2020'",
    " WHERE main.Job.state = 1", " WHERE Job.'state' = 1", " WHERE rowid > 5",
    " WHERE Job.rowid > 5", " WHERE state = 'x' COLLATE german", " WHERE foreign = 'x'",
    " WHERE state = 'x' COLLATE \"nocase\"", " WHERE other.state = 1",
  ])
  func ambiguousConditionsAreUnknown(text: String) {
    #expect(Self.condition(text) == nil)
  }
}
