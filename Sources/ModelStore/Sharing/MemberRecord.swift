/// What a file says about its part in a shared store: one row of a table that only this file has.
///
/// The row changes in the transaction of each commit. So the file and the row always agree, also
/// after a crash.
struct MemberRecord: Hashable, Sendable {
  static let table = "_ms_member"

  /// The name of the store in its ledger.
  let store: String
  let member: MemberID
  var number: CommitNumber
  var hash: CommitHash
  var epoch: Int64

  static let definition = """
    CREATE TABLE _ms_member (
      id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
      store TEXT NOT NULL,
      member INTEGER NOT NULL,
      number INTEGER NOT NULL,
      hash BLOB NOT NULL,
      epoch INTEGER NOT NULL
    ) STRICT
    """

  /// - Returns: nil if the file is not a member of a shared store.
  init?(reading connection: Connection) throws {
    let isMember = try connection.firstRow(
      "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = \(Self.table)",
      { _ in true })
    guard isMember == true else { return nil }
    let found = try connection.firstRow(
      "SELECT store, member, number, hash, epoch FROM main._ms_member WHERE id = 1"
    ) { row in
      guard case .blob(let hash) = try row.value(at: 3) else { return MemberRecord?.none }
      return MemberRecord(
        store: try row.text(at: 0), member: MemberID(rawValue: try row.integer(at: 1)),
        number: CommitNumber(rawValue: try row.integer(at: 2)), hash: CommitHash(bytes: hash),
        epoch: try row.integer(at: 4))
    }
    guard let record = found ?? nil else { return nil }
    self = record
  }

  /// Whether no program has written anything to the file but declarations of a member: no row in a
  /// table of the application, and no change in the journal. A file that is not a member has
  /// nothing but the store's own tables.
  static func isUnused(_ connection: Connection) throws -> Bool {
    func isEmpty(_ rows: String) throws -> Bool {
      try connection.firstRow(SQLText(sql: "SELECT 1 FROM main.\(rows) LIMIT 1"), { _ in true })
        == nil
    }
    guard try MemberRecord(reading: connection) != nil else {
      return try isEmpty(
        "sqlite_schema WHERE substr(tbl_name, 1, 4) <> '_ms_' AND substr(name, 1, 7) <> 'sqlite_'")
    }
    let tables = try SharedTables(reading: connection)
    let records = tables.all.filter { !$0.name.hasPrefix("_ms_") }
    guard try records.allSatisfy({ try isEmpty(SQLText.quoted($0.name)) }) else { return false }
    // Its marks have layout 0.
    return try tables["_ms_journal"] == nil || isEmpty("_ms_journal WHERE layout > 0")
  }

  init(store: String, member: MemberID, number: CommitNumber, hash: CommitHash, epoch: Int64) {
    self.store = store
    self.member = member
    self.number = number
    self.hash = hash
    self.epoch = epoch
  }

  /// Writes the row. The table exists.
  func write(on connection: Connection) throws {
    try connection.run(
      """
      INSERT OR REPLACE INTO main._ms_member (id, store, member, number, hash, epoch)
      VALUES (
        1, \(store), \(member.rawValue), \(number.rawValue), \(SQLValue.blob(hash.bytes)), \(epoch)
      )
      """)
  }

  /// Sets the commit that the file has, if it has that of this record.
  ///
  /// - Returns: Whether it had.
  func advance(
    to number: CommitNumber, _ hash: CommitHash, on connection: Connection
  ) throws -> Bool {
    try connection.run(
      SQLText(
        sql: Self.advanceText,
        arguments: [
          .integer(number.rawValue), .blob(hash.bytes), .integer(self.number.rawValue),
          .blob(self.hash.bytes),
        ]))
    return connection.changeCount == 1
  }

  /// Static, because it runs in each commit.
  private static let advanceText =
    "UPDATE main._ms_member SET number = ?, hash = ? WHERE id = 1 AND number = ? AND hash = ?"
}
