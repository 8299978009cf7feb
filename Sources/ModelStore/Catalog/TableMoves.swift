/// What became of the tables and columns of a file while statements of migrations ran: under which
/// names they are now, and which of them may have other rows. A plain value.
///
/// It follows `ALTER TABLE … RENAME` and DROP, so it knows each table under the name that it had at
/// the beginning. A table whose name is taken by a new table is not a moved table: see
/// ``name(of:in:)``.
struct TableMoves {
  /// A table that was there at the beginning.
  private struct Move {
    /// The present name; nil for a dropped table.
    var name: String?
    /// The present names of its columns, by their names at the beginning, folded; nil for a dropped
    /// column. Other columns have kept their names.
    var columns: [ExactText: String?] = [:]
  }

  /// By the name at the beginning, folded. Other tables have kept their names.
  private var moves: [ExactText: Move] = [:]
  /// The present names of tables that were created since, folded.
  private var created: Set<ExactText> = []
  /// The present names of tables into which statements have written, folded.
  private var written: Set<ExactText> = []
  /// Whether a statement may have written into any table.
  private(set) var mayHaveWrittenAnywhere = false
  /// Whether a statement has changed rows.
  var hasWritten: Bool { mayHaveWrittenAnywhere || !written.isEmpty }

  /// Collects the moves while a migration runs.
  final class Recorder {
    private(set) var moves = TableMoves()

    /// Notes a statement that has run.
    func note(_ statement: String) { moves.note(statement) }
  }

  mutating func note(_ statement: String) {
    switch MigrationStatement(statement) {
    case .rename, .alter: noteAlteration(statement)
    case .drop(let name):
      written.remove(name)
      guard created.remove(name) == nil, let origin = origin(of: name) else { return }
      moves[origin] = Move()
    case .create(let name, _):
      created.insert(name)
      written.insert(name)
    case .insert(let name, _), .change(let name, _): written.insert(name)
    case .createIndex, .createTrigger, .header, .neutral: break
    case .other: mayHaveWrittenAnywhere = true
    }
  }

  private mutating func noteAlteration(_ statement: String) {
    guard let alteration = TableAlteration(statement) else { return }
    let table = ExactText(alteration.table.asciiFolded)
    let origin = origin(of: table)
    if case .rename(let name) = alteration.change {
      let new = ExactText(name.asciiFolded)
      if written.remove(table) != nil { written.insert(new) }
      if created.remove(table) != nil { created.insert(new) }
    }
    guard let origin else { return }
    var move = moves[origin] ?? Move(name: alteration.table)
    switch alteration.change {
    case .rename(let name): move.name = name
    case .renameColumn(let column, let name): Self.rename(column, to: name, in: &move)
    case .dropColumn(let column): Self.rename(column, to: nil, in: &move)
    }
    moves[origin] = move
  }

  private static func rename(_ column: String, to name: String?, in move: inout Move) {
    let folded = ExactText(column.asciiFolded)
    let earlier = move.columns.first { $0.value.map { ExactText($0.asciiFolded) } == folded }
    if let earlier {
      move.columns[earlier.key] = .some(name)
    } else if move.columns[folded] == nil {
      move.columns[folded] = .some(name)
    }
  }

  /// The name at the beginning of the table that is called `name` now; nil if it was created since.
  private func origin(of name: ExactText) -> ExactText? {
    let moved = moves.first { $0.value.name.map { ExactText($0.asciiFolded) } == name }
    if let moved { return moved.key }
    return moves[name] == nil && !created.contains(name) ? name : nil
  }

  // The result

  /// Returns the present name of a table; nil if it is gone.
  ///
  /// If a table that was created since has the old name of a moved or dropped table, it takes the
  /// place of that table: so it is when a migration renames a table and fills a new one from it.
  ///
  /// - Parameters:
  ///   - table: Its name at the beginning.
  ///   - present: The names of all tables of the file now, folded.
  func name(of table: String, in present: Set<ExactText>) -> String? {
    let folded = ExactText(table.asciiFolded)
    guard let move = moves[folded] else { return present.contains(folded) ? table : nil }
    let isMovedHere = moves.values.contains { other in
      other.name.map { ExactText($0.asciiFolded) } == folded
    }
    return present.contains(folded) && !isMovedHere ? table : move.name
  }

  /// Returns the present names of the renamed columns of a table, by their names at the beginning,
  /// folded; nil for a dropped column.
  ///
  /// - Parameter table: The name at the beginning, folded.
  func columns(of table: ExactText) -> [ExactText: String?] { moves[table]?.columns ?? [:] }

  /// Whether the table that is called `name` now, folded, may have other rows than before.
  func mayHaveWritten(_ name: ExactText) -> Bool {
    mayHaveWrittenAnywhere || written.contains(name)
  }
}

/// A statement that renames a table, or renames or drops a column. Names are as they are written.
struct TableAlteration: Hashable {
  enum Change: Hashable {
    case rename(String)
    case renameColumn(String, to: String)
    case dropColumn(String)
  }

  let table: String
  let change: Change

  /// - Returns: nil for another statement.
  init?(_ statement: String) {
    let source = SQLTokens(statement)
    var rest = source.significant[...]
    func take(_ keyword: String) -> Bool {
      guard let first = rest.first, source.isKeyword(first, keyword) else { return false }
      rest.removeFirst()
      return true
    }
    guard take("ALTER"), take("TABLE"), var table = rest.popFirst().map(source.name) else {
      return nil
    }
    if let dot = rest.first, dot.kind == .symbol {
      rest.removeFirst()
      guard let name = rest.popFirst().map(source.name) else { return nil }
      table = name
    }
    self.table = table
    if take("RENAME") {
      // RENAME to TO other renames a column called "to".
      if rest.count == 2, take("TO") {
        guard let name = rest.first.map(source.name) else { return nil }
        change = .rename(name)
        return
      }
      if rest.count == 4 { _ = take("COLUMN") }
      guard rest.count == 3, let old = rest.first, let new = rest.last else { return nil }
      change = .renameColumn(source.name(old), to: source.name(new))
    } else if take("DROP") {
      if rest.count == 2 { _ = take("COLUMN") }
      guard rest.count == 1, let column = rest.first else { return nil }
      change = .dropColumn(source.name(column))
    } else {
      return nil
    }
  }
}
