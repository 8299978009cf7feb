/// Runs migrations in an empty database, one after the other, to find mistakes before any file has
/// them. It needs no file, so it knows no records.
package struct MigrationRehearsal {
  /// A mistake, or something to be sure of.
  package enum Finding: Hashable, Sendable {
    /// SQLite refuses a statement, or a migration may not run it: one sentence.
    case fails(String)
    case loses(SchemaLoss)
    /// A table was rebuilt, and these indexes or triggers were not created again.
    case forgets([String])
    /// The statements that take the migration back fail: one sentence.
    case reverseFails(String)
    /// The statements that take the migration back leave these differences.
    case reverseDiffers([String])
  }

  private let scratch: ScratchSchema

  /// - Parameter functions: The functions of the store's connections.
  package init(functions: Set<SQLFunction> = []) throws {
    scratch = try ScratchSchema(functions: functions)
  }

  /// The schema after the migrations so far.
  package func schema() throws -> SchemaSnapshot { try scratch.snapshot() }

  /// Runs `migration`, then the statements that take it back, then it again.
  ///
  /// - Returns: What was found. After ``Finding/fails(_:)``, the database is as before.
  package func run(_ migration: Migration) throws -> [Finding] {
    let statements = SQLTokens(migration.sql).statements
    let before = try scratch.snapshot()
    if let failure = try failure(statements, of: "Migration \(migration)") {
      return [.fails(failure)]
    }
    let after = try scratch.snapshot()
    var findings = Self.losses(in: statements, from: before, to: after).map(Finding.loses)
    let forgotten = Self.forgotten(by: statements, from: before, to: after)
    if !forgotten.isEmpty { findings.append(.forgets(forgotten)) }
    if let reverse = migration.reverseSQL {
      findings += try rehearse(
        SQLTokens(reverse).statements, of: migration, to: before, again: statements)
    }
    return findings
  }

  private func rehearse(
    _ reverse: [String], of migration: Migration, to before: SchemaSnapshot,
    again statements: [String]
  ) throws -> [Finding] {
    if let failure = try failure(reverse, of: "The way back of \(migration)") {
      return [.reverseFails(failure)]
    }
    let differences = try scratch.snapshot().namesOfDifferences(from: before)
    let found: [Finding] = differences.isEmpty ? [] : [.reverseDiffers(differences)]
    // What the way back leaves may be in the way.
    guard try failure(statements, of: "Migration \(migration)") == nil else {
      return found.isEmpty
        ? [.reverseFails("After its way back, the migration \(migration) cannot run again.")]
        : found
    }
    return found
  }

  /// Returns whether no statement of `sql` writes records or the file's header.
  package static func changesOnlySchema(_ sql: String) -> Bool {
    SQLTokens(sql).statements.allSatisfy { statement in
      switch MigrationStatement(statement) {
      case .create: !MigrationStatement.createsRows(statement)
      case .createIndex, .createTrigger, .alter, .rename, .drop, .neutral: true
      case .insert, .change, .header, .other: false
      }
    }
  }

  /// Runs statements completely or not at all.
  ///
  /// - Returns: A sentence that names the statement that failed.
  private func failure(_ statements: [String], of place: String) throws -> String? {
    try scratch.connection.execute("SAVEPOINT rehearsal; PRAGMA legacy_alter_table = OFF")
    for (index, statement) in statements.enumerated() {
      do {
        try MigrationScript.check(statement, at: "\(place), statement \(index + 1)")
        try scratch.run([statement])
      } catch {
        try scratch.connection.execute("ROLLBACK TO rehearsal; RELEASE rehearsal")
        return switch error {
        case let error as SQLiteError:
          "\(place), statement \(index + 1): \(error.message).\(Self.remark(on: error))"
        case let error as StoreError: error.message
        default: throw error
        }
      }
    }
    try scratch.connection.execute("RELEASE rehearsal")
    return nil
  }

  private static func remark(on error: SQLiteError) -> String {
    error.message.hasPrefix("no such table: ")
      ? " The migrations run from an empty database, so one of them must create it." : ""
  }

  /// Returns what `statements` delete in a file with the schema `before`; nil if they fail in an
  /// empty database with it.
  package static func losses(
    of statements: [String], in before: SchemaSnapshot, functions: Set<SQLFunction> = []
  ) throws -> [SchemaLoss]? {
    guard statements.contains(where: { SQLTokens($0).mayDelete }) else { return [] }
    let scratch = try ScratchSchema(functions: functions)
    try scratch.create(before.texts)
    guard try scratch.attempt(statements, { true }) else { return nil }
    return losses(in: statements, from: before, to: try scratch.snapshot())
  }

  private static func losses(
    in statements: [String], from before: SchemaSnapshot, to after: SchemaSnapshot
  ) -> [SchemaLoss] {
    let path = RecordPath(of: before.tables, through: statements)
    let present = after.tableNames
    var losses: [SchemaLoss] = []
    for table in before.tables {
      let name = ExactText(table.name.asciiFolded)
      guard path.keepsRecords(of: name), let last = path.moves.name(of: table.name, in: present),
        let now = after.table(named: last)
      else {
        losses.append(.table(table.name))
        continue
      }
      let columns = path.moves.columns(of: name)
      for column in table.columns where column.generated == nil {
        let last = columns[ExactText(column.name.asciiFolded)] ?? column.name
        let successor = last.flatMap(now.column(named:))
        if successor.map({ $0.generated != nil }) ?? true {
          losses.append(.column(column.name, of: table.name))
        }
      }
    }
    let shortened = before.tables.filter(path.deletesRecords)
    return losses + shortened.map { .records(of: $0.name) }
  }

  /// The indexes and triggers that a rebuild by hand has lost.
  private static func forgotten(
    by statements: [String], from before: SchemaSnapshot, to after: SchemaSnapshot
  ) -> [String] {
    let dropped = Set(
      statements.map(MigrationStatement.init).compactMap { statement in
        if case .drop(let name) = statement { name } else { nil }
      })
    let moves = RecordPath(of: before.tables, through: statements).moves
    let present = after.tableNames
    return before.texts.filter { text in
      ["index", "trigger"].contains(text.type)
        && !dropped.contains(ExactText(text.name.asciiFolded))
        && before.table(named: text.table) != nil
        && moves.name(of: text.table, in: present) != nil
        && after.text(text.type, named: text.name) == nil
    }.map { "\($0.type) \($0.name)" }
  }
}

/// Where the records of each table go while statements run, as far as their first words say.
private struct RecordPath {
  private(set) var moves = TableMoves()
  /// The present names of the tables that have the records of a table or a copy of them, by its
  /// name at the beginning. Names are folded.
  private var holders: [ExactText: Set<ExactText>]
  /// The names at the beginning of the tables whose records a statement deletes, folded.
  private var shortened: Set<ExactText> = []

  init(of tables: [TableFacts], through statements: [String]) {
    let names = tables.map { ExactText($0.name.asciiFolded) }
    holders = Dictionary(names.map { ($0, [$0]) }) { first, _ in first }
    for statement in statements { note(statement) }
  }

  private mutating func note(_ statement: String) {
    moves.note(statement)
    switch MigrationStatement(statement) {
    case .rename(let old, let new):
      holders = holders.mapValues { names in
        names.contains(old) ? names.subtracting([old]).union([new]) : names
      }
    case .create(let name, let sources), .insert(let name, let sources):
      holders = holders.mapValues { names in
        names.isDisjoint(with: sources) ? names : names.union([name])
      }
    case .drop(let name):
      holders = holders.mapValues { $0.subtracting([name]) }
    case .change(let name, _) where SQLTokens(statement).beginsWithDelete:
      shortened.formUnion(holders.filter { $0.value.contains(name) }.keys)
    default: break
    }
  }

  /// Whether a table has the records of `table`. A table that was dropped and created again has
  /// them only if a statement copied them.
  func keepsRecords(of table: ExactText) -> Bool { holders[table]?.isEmpty == false }

  func deletesRecords(of table: TableFacts) -> Bool {
    shortened.contains(ExactText(table.name.asciiFolded))
  }
}

extension SchemaSnapshot {
  /// The names of the tables, folded.
  fileprivate var tableNames: Set<ExactText> {
    Set(tables.map { ExactText($0.name.asciiFolded) })
  }
}

extension SQLTokens {
  /// Whether a statement may delete anything.
  fileprivate var mayDelete: Bool {
    significant.contains { isKeyword($0, "DROP") || isKeyword($0, "DELETE") }
  }

  /// Whether DELETE is the statement's first word, or follows the tables of WITH.
  fileprivate var beginsWithDelete: Bool {
    significant.contains { isKeyword($0, "DELETE") }
      && !significant.contains { isKeyword($0, "UPDATE") }
  }
}
