@testable import ModelStore

/// What a file has, read by SQLite alone, to compare it before and after its schema changed.
struct MigrationSnapshot {
  /// The application's indexes, triggers and views by their kind and table, in the order of
  /// creation.
  private var objects: [String: [[SQLValue]]] = [:]
  /// The records of each table by their key, each as its values by column.
  private var records: [String: [[String: SQLValue]]] = [:]
  private var sequences: [[SQLValue]] = []
  /// What SQLite finds wrong with the file.
  private let problems: [[SQLValue]]

  init(_ path: String) throws {
    let file = try PlainDatabase(path)
    let tables = try file.rows(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB '_ms_*' AND name NOT GLOB 'sqlite_*'"
    ).map { $0[0].plainText }
    for row in try file.rows(
      """
      SELECT tbl_name, type, name, sql FROM sqlite_schema
      WHERE type IN ('trigger', 'view', 'index') AND name NOT GLOB '_ms_*' AND sql IS NOT NULL
      ORDER BY rowid
      """)
    {
      objects["\(row[1].plainText) of \(row[0].plainText)", default: []].append(
        Array(row.dropFirst()))
    }
    for table in tables {
      let name = SQLText.quoted(table)
      let columns = try file.rows("SELECT name FROM pragma_table_xinfo(\(SQLText.literal(table)))")
        .map { $0[0].plainText }
      let hasRowID =
        try file.rows(
          "SELECT wr FROM pragma_table_list WHERE name = \(SQLText.literal(table))")[0][0]
        == .integer(0)
      let list = (hasRowID ? ["rowid"] : []) + columns.map(SQLText.quoted)
      records[table] = try file.rows(
        "SELECT \(list.joined(separator: ", ")) FROM \(name) ORDER BY 1, 2"
      ).map { row in
        Dictionary(zip((hasRowID ? ["rowid"] : []) + columns, row)) { first, _ in first }
      }
    }
    if try !file.rows("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").isEmpty {
      sequences = try file.rows("SELECT name, seq FROM sqlite_sequence ORDER BY 1")
    }
    problems =
      try file.rows("PRAGMA foreign_key_check")
      + file.rows("PRAGMA integrity_check").filter { $0 != [.text("ok")] }
  }

  /// One sentence for each thing that was lost since `self`; empty when nothing was.
  ///
  /// - Parameters:
  ///   - declared: The names of the indexes that models declare, which may come and go.
  ///   - widened: The columns whose whole numbers may have become real numbers.
  ///   - filled: The columns whose values a new binding writes.
  func losses(
    in later: MigrationSnapshot, declared: Set<String> = [], widened: Set<String> = [],
    filled: Set<String> = []
  ) -> [String] {
    var losses = later.problems.map { "problem: \($0)" }
    for (table, own) in objects {
      let others = (later.objects[table] ?? []).filter { !declared.contains($0[1].plainText) }
      if own.filter({ !declared.contains($0[1].plainText) }) != others {
        losses.append(table)
      }
    }
    for table in later.objects.keys where objects[table] == nil {
      let others = (later.objects[table] ?? []).filter { !declared.contains($0[1].plainText) }
      if !others.isEmpty { losses.append("new \(table)") }
    }
    for (table, own) in records {
      let others = later.records[table] ?? []
      guard own.count == others.count else {
        losses.append("\(table) has \(others.count) of \(own.count) records")
        continue
      }
      for (before, after) in zip(own, others) {
        for (column, value) in before where !filled.contains("\(table).\(column)") {
          let isSame =
            widened.contains("\(table).\(column)")
            ? after[column] == value.widened : after[column] == value
          if !isSame { losses.append("\(table).\(column): \(value)") }
        }
      }
    }
    if sequences != later.sequences { losses.append("sequences") }
    return losses.sorted()
  }
}

extension SQLValue {
  fileprivate var plainText: String { if case .text(let text) = self { text } else { "" } }

  fileprivate var widened: SQLValue {
    if case .integer(let number) = self { .real(Double(number)) } else { self }
  }
}
