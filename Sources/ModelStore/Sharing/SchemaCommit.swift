/// What a ledger keeps of a change of the schema. It has no rows: each member begins again from the
/// snapshot that the ledger got with it.
struct SchemaCommit: Hashable, Sendable {
  let number: CommitNumber
  /// The hash of the commit before.
  let previous: CommitHash
  let transaction: TransactionID
  let epoch: Int64
  /// The digest of the schema before. A member's file with another one may have more than the
  /// ledger.
  let before: [UInt8]
  /// The digest of the new schema.
  let schema: [UInt8]

  /// Distinguishes it from a ``CommitRecord``. A library that does not know it reports a later
  /// version.
  private static let version: UInt8 = 2

  /// The commit for the ledger.
  var ledgerCommit: LedgerCommit {
    var writer = RecordWriter()
    writer.bytes.append(Self.version)
    writer.add(number.rawValue)
    writer.bytes += previous.bytes
    writer.add(transaction.rawValue)
    writer.add(epoch)
    writer.bytes += before
    writer.bytes += schema
    return LedgerCommit(
      number: number, transaction: transaction, hash: CommitHash(of: writer.bytes),
      record: writer.bytes)
  }
}

extension SchemaCommit {
  /// Reads `commit`.
  ///
  /// - Returns: nil if it is one of records.
  /// - Throws: ``LedgerError/mismatch(_:)`` if the bytes are damaged, or are not the commit's.
  init?(_ commit: LedgerCommit) throws(LedgerError) {
    guard commit.record.first == Self.version else { return nil }
    var reader = RecordReader(commit.record)
    do throws(RecordReader.Damage) {
      _ = try reader.byte()
      number = CommitNumber(rawValue: try reader.number())
      previous = CommitHash(bytes: try reader.take(SHA256.byteCount))
      transaction = TransactionID(rawValue: try reader.number())
      epoch = try reader.number()
      before = try reader.take(SHA256.byteCount)
      schema = try reader.take(SHA256.byteCount)
      guard CommitHash(of: commit.record) == commit.hash, reader.isAtEnd,
        number == commit.number, transaction == commit.transaction
      else { throw .bytes }
    } catch {
      throw .mismatch("The commit \(commit.number) is damaged in the ledger.")
    }
  }
}

/// Thrown where a member meets a change of the schema. It has all commits before.
struct SchemaChanged: Error {
  let number: CommitNumber
  /// The digest of the schema before.
  let before: [UInt8]
  /// The member that meets it.
  let member: MemberID
}
