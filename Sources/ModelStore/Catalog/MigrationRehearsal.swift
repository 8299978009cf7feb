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
    SQLTokens(sql).statements.map(MigrationStatement.init).allSatisfy { statement in
      switch statement {
      case .create(_, let sources): sources.isEmpty
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
        case let error as SQLiteError: "\(place), statement \(index + 1): \(error.message)."
        case let error as StoreError: error.message
        default: throw error
        }
      }
    }
    try scratch.connection.execute("RELEASE rehearsal")
    return nil
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
    let kinds = statements.map(MigrationStatement.init)
    let renamed = renamedColumns(in: statements)
    var losses: [SchemaLoss] = []
    for table in before.tables {
      let name = ExactText(table.name.asciiFolded)
      guard let last = Self.name(of: name, after: kinds), let now = after.table(named: last.text)
      else {
        losses.append(.table(table.name))
        continue
      }
      for column in table.columns
      where column.generated == nil && now.column(named: column.name) == nil
        && !renamed.contains(column.name.asciiFolded)
      {
        losses.append(.column(column.name, of: table.name))
      }
    }
    for (statement, kind) in zip(statements, kinds) {
      guard case .change(let table, _) = kind, let known = before.table(named: table.text),
        SQLTokens(statement).beginsWithDelete
      else { continue }
      losses.append(.records(of: known.name))
    }
    return losses
  }

  /// The name of a table after the statements; nil if it is dropped. A table that takes the name of
  /// a dropped one is its new form.
  private static func name(of table: ExactText, after kinds: [MigrationStatement]) -> ExactText? {
    var name = table
    var isGone = false
    for kind in kinds {
      switch kind {
      case .rename(let old, let new) where old == name && !isGone: name = new
      case .rename(_, let new) where new == name: isGone = false
      case .create(let created, _) where created == name: isGone = false
      case .drop(let dropped) where dropped == name: isGone = true
      default: break
      }
    }
    return isGone ? nil : name
  }

  /// The folded names that ALTER TABLE … RENAME COLUMN replaces.
  private static func renamedColumns(in statements: [String]) -> Set<String> {
    Set(
      statements.compactMap { statement in
        let source = SQLTokens(statement)
        let tokens = source.significant
        guard tokens.first.map({ source.isKeyword($0, "ALTER") }) == true,
          let rename = tokens.firstIndex(where: { source.isKeyword($0, "RENAME") })
        else { return nil }
        let rest = tokens[(rename + 1)...].drop { source.isKeyword($0, "COLUMN") }
        guard rest.count == 3, let first = rest.first else { return nil }
        return source.name(first).asciiFolded
      })
  }

  /// The indexes and triggers that a rebuild by hand has lost.
  private static func forgotten(
    by statements: [String], from before: SchemaSnapshot, to after: SchemaSnapshot
  ) -> [String] {
    let dropped = Set(
      statements.map(MigrationStatement.init).compactMap { statement in
        if case .drop(let name) = statement { name } else { nil }
      })
    return before.texts.filter { text in
      ["index", "trigger"].contains(text.type)
        && dropped.contains(ExactText(text.table.asciiFolded))
        && !dropped.contains(ExactText(text.name.asciiFolded))
        && after.table(named: text.table) != nil && after.text(text.type, named: text.name) == nil
    }.map { "\($0.type) \($0.name)" }
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
