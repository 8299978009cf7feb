/// The tables whose row numbers VACUUM may change although something in the file depends on them.
///
/// VACUUM may number the rows of a table without INTEGER PRIMARY KEY again, from 1:
/// <https://sqlite.org/lang_vacuum.html>. Their numbers are keys of adopted models without another
/// key, full-text tables refer to their content by them, and triggers and views may use them.
struct UsedRowNumbers {
  private let connection: Connection
  /// Tables, in lower case, whose row numbers are keys of records.
  private let keyless: Set<String>
  /// The tables that VACUUM may number again.
  private let tables: [TableFacts]
  private let texts: [SchemaText]

  /// Reads the schema of a file.
  ///
  /// - Parameter keyless: The tables, in lower case, that this program knows to have such keys.
  /// - Precondition: A transaction is open on `connection`.
  init(on connection: Connection, keysOf keyless: Set<String>) throws {
    self.connection = connection
    // Another program may have adopted a model that this one does not know yet.
    let filed =
      try FiledCatalog.knowingTable { try CatalogEntries.models.understood(on: connection) } ?? []
    self.keyless = keyless.union(filed.filter(\.hasHiddenRowID).map(\.table.asciiFolded))
    let all = try Catalog(reading: connection).tables.filter { !$0.name.hasPrefix("_ms_") }
    tables = all.filter { $0.kind == .table && !$0.isWithoutRowID && $0.rowIDColumn == nil }
    // The store's own triggers compare row numbers within one statement, and keep none.
    texts =
      tables.isEmpty
      ? []
      : all.flatMap { table in
        [SchemaText(table)]
          + table.triggers.filter { !$0.name.hasPrefix("_ms_") }
          .map { SchemaText($0, on: table) }
      }
  }

  /// - Throws: ``StoreError`` with code `conflict` if VACUUM would change such numbers.
  func check() throws {
    let changed = try tables.filter { try isUsed($0) && hasGaps($0) }.map(\.name).sorted()
    guard !changed.isEmpty else { return }
    throw StoreError(
      .conflict,
      "Compacting would give the rows of \(changed.joined(separator: ", ")) new numbers, which are keys of records or of a full-text table, or which a trigger or view uses. Nothing was changed. Give the table an INTEGER PRIMARY KEY. Or close every program, run VACUUM with sqlite3, and rebuild what depends on the numbers."
    )
  }

  private func isUsed(_ table: TableFacts) -> Bool {
    let name = table.name.asciiFolded
    guard !keyless.contains(name) else { return true }
    let numbers = Set(["rowid", "_rowid_", "oid"])
      .subtracting(table.columns.map(\.name.asciiFolded))
    return texts.contains { $0.uses(numbers, of: name) }
  }

  /// Whether the rows of a table are not numbered from 1 without gaps.
  private func hasGaps(_ table: TableFacts) throws -> Bool {
    guard let number = TableFacts.rowIDName(besides: table.columns.map(\.name)) else { return true }
    let text = SQLText(
      sql:
        "SELECT count(*), ifnull(min(\(number)), 1), ifnull(max(\(number)), 0) FROM \(SQLText.quoted(table.name))"
    )
    return try connection.firstRow(text) { row in
      try row.integer(at: 1) != 1 || row.integer(at: 0) != row.integer(at: 2)
    } ?? true
  }
}

/// The text of a table, view or trigger in a file, as far as names in it are concerned.
private struct SchemaText {
  private enum Kind { case table, view, virtual, trigger }

  private let kind: Kind
  /// The table or view, or that of the trigger, in lower case.
  private let table: String
  private let sql: String
  /// Whether it is a trigger that reads and writes no other table.
  private let isSelfContained: Bool
  /// The tokens in lower case, names without quotes.
  private let words: [String]

  init(_ table: TableFacts) {
    let kind: Kind =
      switch table.kind {
      case .view: .view
      case .virtual: .virtual
      case .table, .shadow: .table
      }
    self.init(kind, table.name.asciiFolded, table.sql, isSelfContained: false)
  }

  init(_ trigger: TriggerFacts, on table: TableFacts) {
    let name = table.name.asciiFolded
    let text = SQLTokens(trigger.sql)
    let reads = text.significant.contains { text.isKeyword($0, "SELECT") }
    self.init(
      .trigger, name, trigger.sql,
      isSelfContained: !reads && trigger.writtenTables.isSubset(of: [name]))
  }

  private init(_ kind: Kind, _ table: String, _ sql: String, isSelfContained: Bool) {
    self.kind = kind
    self.table = table
    self.sql = sql.asciiFolded
    self.isSelfContained = isSelfContained
    let text = SQLTokens(sql)
    words = text.significant.map { text.name($0).asciiFolded }
  }

  /// Whether the text may refer to rows of a table by their numbers.
  ///
  /// - Parameters:
  ///   - numbers: The names of the row number that are not columns of the table.
  ///   - name: The name of the table, in lower case.
  func uses(_ numbers: Set<String>, of name: String) -> Bool {
    switch kind {
    case .virtual: return sql.contains(name) || isContentless
    case .table: return table == name && words.contains(where: numbers.contains)
    case .view, .trigger: break
    }
    guard table == name || words.contains(name) else { return false }
    var uses = Set(words.indices.filter { numbers.contains(words[$0]) })
    if table != name { uses = uses.filter { !isOfRow($0) } }
    if isSelfContained { uses.subtract(comparisons(of: uses)) }
    return !uses.isEmpty
  }

  /// Whether a full-text table has no content of its own, so that its numbers are those of rows
  /// elsewhere.
  private var isContentless: Bool {
    words.indices.dropLast(2).contains { index in
      words[index] == "content" && words[index + 1] == "=" && words[index + 2].isEmpty
    }
  }

  private func word(_ index: Int) -> String { words.indices.contains(index) ? words[index] : "" }

  /// Whether the name at `index` is a column of NEW or OLD.
  private func isOfRow(_ index: Int) -> Bool {
    word(index - 1) == "." && ["new", "old"].contains(word(index - 2))
  }

  /// The uses in conditions such as `WHERE rowid = NEW.rowid`, which keep no number.
  private func comparisons(of uses: Set<Int>) -> Set<Int> {
    var found: Set<Int> = []
    for sign in words.indices where words[sign] == "=" {
      let left = sign - 1
      let right = ["new", "old"].contains(word(sign + 1)) ? sign + 3 : sign + 1
      let start = isOfRow(left) ? left - 2 : left
      guard ["where", "and"].contains(word(start - 1)), uses.isSuperset(of: [left, right]),
        isOfRow(left) != isOfRow(right)
      else { continue }
      found.formUnion([left, right])
    }
    return found
  }
}
