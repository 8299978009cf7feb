/// A numbered step of a schema: SQL that the store applies once to each file, in the order of
/// versions.
///
/// Do not change the SQL after it was applied to any file, because the file stores its checksum.
/// The SQL sees the database at that point, not today's Swift types.
///
/// Foreign keys are not enforced while it runs, so ON DELETE and ON UPDATE do nothing and you can
/// rebuild a table. The migration fails if it leaves a broken reference.
public struct Migration: Hashable, Sendable {
  /// The version: above 0, and above every version applied before. Use consecutive numbers, or a
  /// UTC time such as 20260820101500.
  package let version: Int64
  /// A short description, for example `add_due_date`.
  package let name: String
  /// One or more statements. They run in one transaction, which the migration must not end.
  package let sql: String

  /// Creates a migration. An invalid version or SQL text causes an error when the migration is
  /// applied.
  public init(version: Int64, name: String, sql: String) {
    self.version = version
    self.name = name
    self.sql = sql
  }

  /// A checksum of 16 hexadecimal digits. It ignores comments and treats all whitespace as one
  /// space, so you may reformat the SQL. Strings count as written.
  package var checksum: String {
    // FNV-1a, 64 bits. It detects edits, but does not protect against forgery.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in SQLTokens(sql).normalized.utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension Migration: CustomStringConvertible {
  /// `20260820101500 add_due_date`
  public var description: String { "\(version) \(name)" }
}
