/// A check for damage in a file.
struct IntegrityCheck {
  let engine: StoreEngine

  /// Returns the findings of SQLite's own checks, one sentence for each kind of finding in a table.
  ///
  /// - Parameter report: Called with the reason for each table that cannot be checked.
  func damage(onUncheckedTable report: (StoreError) throws -> Void) throws -> [String] {
    let models = engine.models
    let (found, unchecked) = try engine.connections.readers.sync { connection in
      do {
        return try Self.damage(on: connection)
      } catch let error as SQLiteError {
        throw StoreError(error)
      } catch let error as ColumnError {
        // SQLite's findings contain names of tables and indexes, which may be damaged too.
        throw StoreError(.corrupt, "The file's schema is damaged: \(error).")
      }
    }
    for (table, error) in unchecked {
      try report(
        StoreError(
          .unsupportedSchema, "The table \(table) was not checked: \(error.message).",
          model: models.schema.model(ofTable: table)?.name, sqliteCode: error.code.rawValue))
    }
    return found
  }

  /// Returns the damage of a file's pages, indexes and schema; empty if there is none. Values that
  /// break a rule are not damage, because a copy has to have them too.
  static func pageDamage(on connection: Connection) throws -> [String] {
    do {
      // SQLite counts missing values as findings, and stops after 100 of them by itself.
      let found = try ignoringRules(on: connection) {
        try rows(of: "integrity_check(\(Int32.max))", countMax: 100, on: connection) { row in
          let sentence = try row.text(at: 0)
          return sentence == "ok" || sentence.hasPrefix("NULL value in ") ? nil : sentence
        }.rows
      }
      return IntegrityFindings(found).sentences
    } catch let error as ColumnError {
      throw StoreError(.corrupt, "The file's schema is damaged: \(error).")
    }
  }

  private static func ignoringRules<Result>(
    on connection: Connection, _ body: () throws -> Result
  ) throws -> Result {
    try connection.execute("PRAGMA ignore_check_constraints = ON")
    let result = Swift.Result { try body() }
    try connection.execute("PRAGMA ignore_check_constraints = OFF")
    return try result.get()
  }

  private typealias Unchecked = [(table: String, error: SQLiteError)]

  private static func damage(
    on connection: Connection
  ) throws -> (found: [String], unchecked: Unchecked) {
    let integrity = try rows(of: "integrity_check", on: connection) { try $0.text(at: 0) }
    let references = try rows(of: "foreign_key_check", on: connection) { row in
      BrokenRow(
        table: try row.text(at: 0), rowID: row.isNull(at: 1) ? nil : try row.integer(at: 1),
        parent: try row.text(at: 2))
    }
    let known = Set(integrity.unchecked.map(\.table))
    return (
      IntegrityFindings(integrity.rows.filter { $0 != "ok" }).sentences
        + (try sentences(about: references.rows, on: connection)),
      integrity.unchecked + references.unchecked.filter { !known.contains($0.table) }
    )
  }

  /// Returns the rows of a checking pragma for the whole file.
  ///
  /// If a function or collation of one table is missing here, SQLite stops. The pragma then runs
  /// for each table separately.
  ///
  /// - Parameters:
  ///   - pragma: The pragma, with its argument for the whole file. A check of one table has none.
  ///   - countMax: The most rows to return for the whole file or a table.
  ///   - body: Returns nil for a row to leave out.
  private static func rows<Row>(
    of pragma: String, countMax: Int = .max, on connection: Connection,
    _ body: (borrowing RowView) throws -> Row?
  ) throws -> (rows: [Row], unchecked: Unchecked) {
    do {
      return (try first(countMax, of: "PRAGMA \(pragma)", on: connection, body), [])
    } catch let error as SQLiteError where error.isAboutMissingObject {
      var found: [Row] = []
      var unchecked: Unchecked = []
      let tables = try connection.rows(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name"
      ) { row in try row.text(at: 0) }
      let name = pragma.prefix { $0 != "(" }
      for table in tables {
        do {
          let sql = "PRAGMA \(name)(\(SQLText.quoted(table)))"
          found += try first(countMax, of: sql, on: connection, body)
        } catch let error as SQLiteError where error.isAboutMissingObject {
          unchecked.append((table, error))
        }
      }
      return (found, unchecked)
    }
  }

  private static func first<Row>(
    _ countMax: Int, of sql: String, on connection: Connection,
    _ body: (borrowing RowView) throws -> Row?
  ) throws -> [Row] {
    try connection.withStatement(sql) { statement in
      var rows: [Row] = []
      while rows.count < countMax, try statement.step() {
        if let row = try body(RowView(statement: statement.handle)) { rows.append(row) }
      }
      return rows
    }
  }

  /// A row of the result of `PRAGMA foreign_key_check`.
  private struct BrokenRow {
    let table: String
    /// The rowid; nil in a table WITHOUT ROWID.
    let rowID: Int64?
    let parent: String
  }

  /// The maximum number of keys in one sentence.
  private static let maxKeyCount = 5

  /// Returns one sentence per pair of tables, with the number of rows and the first keys.
  private static func sentences(
    about rows: [BrokenRow], on connection: Connection
  ) throws -> [String] {
    let groups = Dictionary(grouping: rows) { [$0.table, $0.parent] }
    return try groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { names, rows in
      let numbers = rows.compactMap(\.rowID).prefix(maxKeyCount)
      let keys = try numbers.map { try key(ofRow: $0, in: names[0], on: connection) }
      let rest = rows.count > keys.count && !keys.isEmpty ? ", …" : ""
      let place = keys.isEmpty ? "" : ": \(keys.joined(separator: ", "))\(rest)"
      return rows.count == 1
        ? "1 row of \(names[0]) refers to a missing row of \(names[1])\(place)."
        : "\(rows.count) rows of \(names[0]) refer to missing rows of \(names[1])\(place)."
    }
  }

  /// Returns the primary key of a row as text, or its rowid if the table has no primary key.
  private static func key(
    ofRow number: Int64, in table: String, on connection: Connection
  ) throws -> String {
    let columns = try connection.rows(
      "SELECT name, pk FROM pragma_table_info(\(table), 'main') ORDER BY cid"
    ) { row in (name: try row.text(at: 0), place: try row.integer(at: 1)) }
    let key = columns.filter { $0.place > 0 }.sorted { $0.place < $1.place }.map(\.name)
    guard !key.isEmpty, let rowID = TableFacts.rowIDName(besides: columns.map(\.name)) else {
      return "rowid \(number)"
    }
    let text = SQLText(
      sql: "SELECT \(SQLText.quotedList(key)) FROM \(SQLText.quoted(table)) WHERE \(rowID) = ?",
      arguments: [.integer(number)])
    let values = try connection.firstRow(text) { row in try row.values() }
    return values?.map(\.description).joined(separator: ",") ?? "rowid \(number)"
  }
}

/// The sentences of `PRAGMA integrity_check`. Sentences that differ only in the row number are
/// merged.
private struct IntegrityFindings {
  /// The groups, in the order of their first sentences.
  private var groups: [(ending: String, rows: [String], count: Int)] = []

  init(_ sentences: [String]) {
    for sentence in sentences {
      let words = sentence.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
      let isAboutRow = words.count == 3 && words[0] == "row" && Int64(words[1]) != nil
      let ending = isAboutRow ? "row " + words[2] : sentence
      let rows = isAboutRow ? [String(words[1])] : []
      if let place = groups.firstIndex(where: { $0.ending == ending }) {
        groups[place].rows += rows
        groups[place].count += 1
      } else {
        groups.append((ending, rows, 1))
      }
    }
  }

  var sentences: [String] {
    groups.map { ending, rows, count in
      guard let first = rows.first else {
        return count == 1 ? ending : "\(ending) (\(count) times)"
      }
      guard count > 1 else { return "row \(first)" + ending.dropFirst("row".count) }
      let rest = count > 5 ? ", …" : ""
      let numbers = rows.prefix(5).joined(separator: ", ") + rest
      return "\(count) rows" + ending.dropFirst("row".count) + " (\(numbers))"
    }
  }
}
