/// What makes a file a member of a shared store: its record, and the triggers that keep other
/// programs from writing.
struct MemberMark {
  let engine: StoreEngine

  /// Makes the file a member, unless it is one.
  ///
  /// - Parameter record: Returns the record, for the digest of the schema that the file then has.
  /// - Returns: The record.
  func add(
    _ writer: inout Writer, _ record: (_ schema: [UInt8]) -> MemberRecord
  ) throws -> MemberRecord {
    let connection = writer.connection
    do {
      let record = try connection.inTransaction {
        if let present = try MemberRecord(reading: connection) { return present }
        let journal = JournalEditor(schema: engine.schema)
        let standing = try journal.standing(on: connection)
        try connection.execute(MemberRecord.definition)
        for table in try SharedTables(reading: connection).all {
          for text in MemberGuard.triggers(of: table) { try connection.execute(text) }
        }
        // The journal's triggers must be the newest of their tables.
        try journal.align(keeping: standing, on: connection)
        let record = record(try SharedSchema(reading: connection).digest)
        try record.write(on: connection)
        return record
      }
      try connection.hooks.withoutStopping { try engine.schema.reload(&writer) }
      return record
    } catch {
      throw writer.failure(error)
    }
  }

  /// Makes the file an ordinary one, within a transaction.
  ///
  /// - Returns: What the record was; nil if the file is not a member.
  static func remove(on connection: Connection) throws -> MemberRecord? {
    guard let record = try MemberRecord(reading: connection) else { return nil }
    for trigger in try MemberGuard.triggerNames(on: connection) {
      try connection.execute("DROP TRIGGER main.\(SQLText.quoted(trigger))")
    }
    try connection.execute("DROP TABLE main.\(MemberRecord.table)")
    return record
  }
}
