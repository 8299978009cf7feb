/// Replaces a table by one with another text, and keeps everything that belongs to it: records,
/// rowids, indexes, triggers in their order, the sequence of AUTOINCREMENT, and the statistics of
/// ANALYZE. Views, and foreign keys and triggers of other tables, are not touched.
///
/// It is SQLite's procedure: <https://sqlite.org/lang_altertable.html#otheralter>. At the end it
/// compares the schema and the number of records with what was there before, so a mistake rolls
/// back instead of losing something.
struct TableRebuild {
  let revision: TableRevision
  let connection: Connection
  /// The most records that one statement copies.
  var chunkSize = 20_000

  private var name: String { revision.table.name }
  private var newName: String { Self.temporaryName(of: name) }

  /// The name of the new table while records are copied.
  static func temporaryName(of table: String) -> String { "_ms_new_\(table)" }

  /// - Parameter onProgress: Called with the number of copied records and the number of all. The
  ///   rebuild stops if it throws.
  /// - Throws: ``SQLiteError`` if records break the new table's constraints; ``StoreError`` with
  ///   code `database` if something would be lost. The caller rolls back.
  /// - Precondition: A write transaction is open, and foreign keys were off when it began.
  ///   Otherwise dropping the old table would delete the records that refer to it.
  /// - Complexity: Linear in the table's records and indexes. Memory is bounded by the page cache.
  func run(onProgress: (_ done: Int, _ all: Int) throws -> Void = { _, _ in }) throws {
    let isEnforcing = try connection.enforcesForeignKeys
    precondition(
      connection.isInTransaction && !isEnforcing, "A table is dropped without cascades.")
    let before = try SchemaInventory(reading: connection)
    let kept = try KeptRows(of: revision, in: before, on: connection)
    guard let sql = TableSQL.renaming(revision.sql, to: newName) else {
      throw Self.failure("The text of the table \(name) cannot be read.")
    }
    try connection.readingQuotedStrings { try connection.execute(sql) }
    try copy(onProgress)
    try connection.run("DROP TABLE main.\(identifier: name)")
    try connection.readingQuotedStrings {
      try rename()
      for text in before.objects(of: name) { try connection.execute(text.sql) }
    }
    try kept.restore(on: connection)
    try check(before)
  }

  /// The old form of ALTER TABLE leaves views, triggers and foreign keys that name the table alone:
  /// <https://sqlite.org/pragma.html#pragma_legacy_alter_table>.
  private func rename() throws {
    try connection.execute("PRAGMA legacy_alter_table = ON")
    try connection.run("ALTER TABLE main.\(identifier: newName) RENAME TO \(identifier: name)")
    try connection.execute("PRAGMA legacy_alter_table = OFF")
  }

  // Records

  private func copy(_ onProgress: (_ done: Int, _ all: Int) throws -> Void) throws {
    let all =
      try connection.firstRow("SELECT count(*) FROM main.\(identifier: name)") { row in
        Int(try row.integer(at: 0))
      } ?? 0
    let hidden = revision.hiddenRowID
    let columns = SQLText.quotedList((hidden.map { [$0] } ?? []) + revision.copiedColumns)
    // A conflict clause of the table could leave records out.
    let copying = """
      INSERT OR ABORT INTO main.\(SQLText.quoted(newName)) (\(columns))
      SELECT \(columns) FROM main.\(SQLText.quoted(name))
      """
    var done = 0
    try onProgress(done, all)
    if let key = hidden ?? revision.table.rowIDColumn?.name {
      var last: Int64?
      repeat {
        let end = try self.end(ofChunkAfter: last, by: key)
        try connection.run(chunk(copying, by: key, after: last, through: end))
        done += connection.changeCount
        try onProgress(done, all)
        last = end
      } while last != nil
    } else {
      try connection.run(SQLText(sql: copying))
      done = connection.changeCount
      try onProgress(done, all)
    }
    guard done == all else {
      throw Self.failure("Of \(all) records of the table \(name), \(done) were copied.")
    }
  }

  /// Returns the rowid of the last record of a chunk; nil if the chunk is the last one.
  private func end(ofChunkAfter last: Int64?, by key: String) throws -> Int64? {
    var text: SQLText = "SELECT \(identifier: key) FROM main.\(identifier: name)"
    if let last { text.append(" WHERE \(identifier: key) > \(last)") }
    text.append(" ORDER BY \(identifier: key) LIMIT 1 OFFSET \(chunkSize - 1)")
    return try connection.firstRow(text) { row in try row.integer(at: 0) }
  }

  private func chunk(
    _ copying: String, by key: String, after last: Int64?, through end: Int64?
  ) -> SQLText {
    var text = SQLText(sql: copying)
    let conditions: [SQLText] = [
      last.map { "\(identifier: key) > \($0)" }, end.map { "\(identifier: key) <= \($0)" },
    ].compactMap(\.self)
    for (index, condition) in conditions.enumerated() {
      text.append(index == 0 ? " WHERE " : " AND ")
      text.append(condition)
    }
    text.append(" ORDER BY \(identifier: key)")
    return text
  }

  // Proof

  private func check(_ before: SchemaInventory) throws {
    let lost = try before.differences(from: SchemaInventory(reading: connection), except: name)
    guard lost.isEmpty else {
      throw Self.failure(
        "Rebuilding the table \(name) would change \(lost.joined(separator: ", ")).")
    }
    let findings = try connection.rows("PRAGMA integrity_check(\(identifier: name))") { row in
      try row.text(at: 0)
    }
    guard findings == ["ok"] else {
      throw Self.failure("The new table \(name): \(findings.prefix(3).joined(separator: "; ")).")
    }
  }

  static func failure(_ message: String) -> StoreError {
    StoreError(.database, "\(message) Nothing was changed.")
  }
}

/// The rows about a table that SQLite deletes with it: its sequence and its statistics.
private struct KeptRows {
  private let name: String
  private var rows: [(table: String, column: String, values: [[SQLValue]])] = []

  init(
    of revision: TableRevision, in inventory: SchemaInventory, on connection: Connection
  ) throws {
    name = revision.table.name
    // https://sqlite.org/fileformat2.html#intschema
    for (table, column) in [
      ("sqlite_sequence", "name"), ("sqlite_stat1", "tbl"), ("sqlite_stat4", "tbl"),
    ] where inventory.hasTable(table) {
      let values = try connection.rows(
        "SELECT * FROM main.\(identifier: table) WHERE \(identifier: column) = \(name)"
      ) { row in try row.values() }
      // With another constraint, the indexes of constraints may have other numbers.
      let kept = values.filter { row in
        guard table != "sqlite_sequence", revision.changesUniqueSets, row.count > 1,
          case .text(let index) = row[1]
        else { return true }
        return !index.hasPrefix("sqlite_autoindex_")
      }
      rows.append((table, column, kept))
    }
  }

  func restore(on connection: Connection) throws {
    for (table, column, values) in rows {
      try connection.run(
        "DELETE FROM main.\(identifier: table) WHERE \(identifier: column) = \(name)")
      for row in values {
        let list = row.map { _ in "?" }.joined(separator: ", ")
        try connection.run(
          SQLText(
            sql: "INSERT INTO main.\(SQLText.quoted(table)) VALUES (\(list))", arguments: row))
      }
    }
  }
}

/// Every object in `sqlite_schema`.
struct SchemaInventory {
  private let texts: [SchemaText]

  init(reading connection: Connection) throws {
    texts = try MigrationPlanner(connection: connection).texts()
  }

  func hasTable(_ name: String) -> Bool {
    texts.contains { $0.type == "table" && $0.name == name }
  }

  /// The indexes and triggers of a table, in the order of creation, without those that its
  /// constraints create.
  func objects(of table: String) -> [SchemaText] {
    texts.filter { text in
      ["index", "trigger"].contains(text.type) && !text.sql.isEmpty
        && text.table.asciiFolded == table.asciiFolded
    }
  }

  /// Returns the objects that only one of the two has, except `table` itself and the indexes of
  /// constraints.
  func differences(from other: SchemaInventory, except table: String) -> [String] {
    func counted(_ texts: [SchemaText]) -> [SchemaText: Int] {
      let compared = texts.filter { text in
        !text.sql.isEmpty
          && !(text.type == "table" && text.name.asciiFolded == table.asciiFolded)
      }
      return Dictionary(compared.map { ($0, 1) }, uniquingKeysWith: +)
    }
    let own = counted(texts)
    let others = counted(other.texts)
    let changed = Set(own.keys).union(others.keys).filter { own[$0] != others[$0] }
    return Set(changed.map { "the \($0.type) \($0.name)" }).sorted()
  }
}
