/// Writes commits of other members into this member's file.
///
/// Its connection runs no trigger and enforces no foreign key, because a record has everything that
/// triggers and cascades did on the member that made it. To the other connections of this process,
/// each applied commit is a foreign one, so observers receive it from the change journal.
final class CommitApplier {
  let connection: Connection
  private let path: String
  private var tables: SharedTables?
  private var schemaVersion: Int64?

  init(path: String, policy: Connection.Policy) throws {
    self.path = path
    connection = try Connection(path: path, role: .applier, policy: policy)
    try connection.noteLog()
  }

  /// Applies `commits`, which follow each other, in one transaction. Commits that the file has
  /// already are left out, because another process may have applied them.
  ///
  /// - Returns: The record of the file afterwards, and the number of commits that were new.
  /// - Throws: ``StoreError`` with code `memberDiverged` if the file is not as it was where the
  ///   commit was made, or has not the schema that the commit changes; `memberOutdated` if commits
  ///   are missing before `commits`; `ledgerLostCommits` if the hashes do not follow each other.
  ///   ``SchemaChanged`` if the first new commit changes the schema; those before one are applied.
  ///   The file is unchanged then.
  func apply(_ commits: [LedgerCommit]) throws -> (member: MemberRecord, count: Int) {
    try connection.inTransaction {
      let before = try standing()
      var member = before
      let tables = try currentTables()
      var count = 0
      for commit in commits where commit.number > member.number {
        guard commit.number <= member.number.next else {
          throw StoreError.outdated(member.number, oldest: commit.number)
        }
        if let change = try SchemaCommit(commit) {
          try check(change.previous, before: change.number, member)
          guard count == 0 else { break }
          guard try SharedSchema(reading: connection).digest == change.before else {
            throw StoreError.otherSchema(path, member.store)
          }
          throw SchemaChanged(
            number: change.number, before: change.before, member: member.member)
        }
        let record = try CommitRecord(commit)
        try check(record.previous, before: commit.number, member)
        try apply(record, tables)
        member.number = commit.number
        member.hash = commit.hash
        count += 1
      }
      if count > 0 { _ = try before.advance(to: member.number, member.hash, on: connection) }
      return (member, count)
    }
  }

  private func check(
    _ previous: CommitHash, before number: CommitNumber, _ member: MemberRecord
  ) throws {
    guard number != member.number.next || previous != member.hash else { return }
    throw StoreError(
      .ledgerLostCommits,
      "The commit \(number) of the ledger does not follow the commit \(member.number) that this file has. The ledger has probably lost commits, or been restored to an earlier state. Nothing was applied. Keep the file, and compare it with a new member before you decide which content to keep."
    )
  }

  /// The commit that the file has.
  func standing() throws -> MemberRecord {
    guard let member = try MemberRecord(reading: connection) else { throw StoreError.notAMember }
    return member
  }

  private func currentTables() throws -> SharedTables {
    let version = try connection.schemaVersion()
    if let tables, version == schemaVersion { return tables }
    let read = try SharedTables(reading: connection)
    tables = read
    schemaVersion = version
    return read
  }

  private func apply(_ record: CommitRecord, _ tables: SharedTables) throws {
    for changes in record.tables {
      guard let table = tables[changes.name] else {
        throw diverged(record, "there is no table \(changes.name)")
      }
      let columnCount = table.columns.count
      let isRight = changes.rows.allSatisfy {
        ($0.before?.count ?? columnCount) == columnCount
          && ($0.after?.count ?? columnCount) == columnCount
          && $0.isIdentified(in: table)
      }
      guard isRight else { throw diverged(record, "the table \(changes.name) has other columns") }
      for row in changes.rows { try check(row, table, record) }
      do {
        try apply(changes.rows, to: table)
      } catch let error as SQLiteError where error.code.primary == .constraint {
        throw diverged(record, "\(error.message) in \(table.name)")
      }
    }
    if tables.hasSequences { try set(record.sequences) }
  }

  /// Gives the file exactly these numbers of AUTOINCREMENT.
  private func set(_ sequences: [CommitRecord.Sequence]) throws {
    guard try CommitRecord.Sequence.all(on: connection) != sequences else { return }
    try connection.run("DELETE FROM main.sqlite_sequence")
    for sequence in sequences {
      try connection.run(
        """
        INSERT INTO main.sqlite_sequence (name, seq)
        VALUES (\(sequence.table), \(sequence.number))
        """)
    }
  }

  /// Checks that the file has the row as it was before the commit.
  private func check(
    _ row: CommitRecord.Row, _ table: SharedTable, _ record: CommitRecord
  ) throws {
    let present = try table.image(of: row.identity, on: connection)
    let isSame =
      switch (row.before, present) {
      case (nil, nil): true
      // The present row goes in the same commit, or the insertion fails.
      case (nil, let present?): !table.has(present, row.identity)
      case (let before?, let present?):
        zip(before, present).allSatisfy { before, present in before.map { $0 == present } ?? true }
      default: false
      }
    guard isSame else { throw diverged(record, "a row of \(table.name) has other values") }
  }

  /// Writes the rows. Where an update could meet the unique value of a row that is changed later,
  /// all earlier rows are deleted first.
  private func apply(_ rows: [CommitRecord.Row], to table: SharedTable) throws {
    let updates = !table.hasUniqueIndex
    for row in rows where row.before != nil && !(updates && row.after != nil) {
      try run(table.deleteText, SharedTable.arguments(of: row.identity))
    }
    for row in rows {
      guard let after = row.after else { continue }
      let identity = SharedTable.arguments(of: row.identity)
      if updates, row.before != nil {
        try run(table.updateText, after + identity)
      } else {
        try run(table.insertText, (table.rowIDName == nil ? [] : identity) + after)
      }
    }
  }

  private func run(_ text: String, _ arguments: [SQLValue]) throws {
    try connection.withStatement(text) { statement in
      try statement.bind(arguments)
      try statement.run()
    }
  }

  private func diverged(_ record: CommitRecord, _ reason: String) -> StoreError {
    .diverged(record.number, reason)
  }
}

extension CommitRecord.Row {
  /// Whether the identity is one of rows of `table`.
  fileprivate func isIdentified(in table: SharedTable) -> Bool {
    switch identity {
    case .rowID: table.rowIDName != nil
    case .key(let values): table.rowIDName == nil && values.count == table.key.count
    }
  }
}
