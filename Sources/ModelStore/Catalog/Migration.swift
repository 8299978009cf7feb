/// One numbered step of a schema: SQL that is applied once to each file, in the order of versions.
///
/// The text is frozen once it was applied anywhere: its checksum is kept in the file. It talks to
/// the database as it is at that point, not to today's Swift types.
///
/// Foreign keys are not enforced while it runs, so ON DELETE and ON UPDATE do nothing and a table
/// can be rebuilt; a reference that it leaves broken makes it fail.
public struct Migration: Hashable, Sendable {
  /// Above 0, and above every version applied before: a running number, or a UTC time such as
  /// 20260820101500.
  package let version: Int64
  /// For people: `add_due_date`.
  package let name: String
  /// One or more statements. They run in one transaction, which the migration itself may not end.
  package let sql: String

  /// Checks nothing: what is wrong with a version or a text shows when migrations are applied.
  public init(version: Int64, name: String, sql: String) {
    self.version = version
    self.name = name
    self.sql = sql
  }

  /// 16 hexadecimal digits over the text without comments and with every run of blanks and line
  /// ends as one space, so that reformatting does not count as a change. Strings count as written.
  package var checksum: String {
    // FNV-1a, 64 bits: it detects edits. It is no protection against forgery, and needs none.
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
