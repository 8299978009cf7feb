import Testing

@testable import ModelStore

@Suite(.tags(.unit)) struct CommitRecordTests {
  private static let record = CommitRecord(
    number: CommitNumber(rawValue: 7), previous: CommitHash(of: [1]),
    transaction: TransactionID(rawValue: .max),
    tables: [
      .init(
        name: "Plain",
        rows: [
          .init(identity: .rowID(.min), before: nil, after: [.null, .integer(.max), .real(-0.5)]),
          .init(
            identity: .rowID(-1), before: [.text("ä\0b"), nil, .blob([0, 255])],
            after: [.text(""), .blob([]), .integer(-1)]),
        ]),
      .init(
        name: "Keyed",
        rows: [.init(identity: .key([.text("a"), .null]), before: [.real(.infinity)], after: nil)]),
    ],
    sequences: [.init(table: "Numbered", number: 9_000_000_000)])

  private static func commit(_ bytes: [UInt8], hash: CommitHash? = nil) -> LedgerCommit {
    LedgerCommit(
      number: record.number, transaction: record.transaction, hash: hash ?? CommitHash(of: bytes),
      record: bytes)
  }

  @Test func aRecordIsReadAsItWasWritten() throws {
    let commit = Self.record.ledgerCommit
    #expect(try CommitRecord(commit) == Self.record)
    #expect(CommitHash(of: commit.record) == commit.hash)
  }

  @Test func aFlippedBitIsFound() throws {
    let commit = Self.record.ledgerCommit
    for place in commit.record.indices {
      var bytes = commit.record
      bytes[place] ^= 1 << (place % 8)
      #expect(throws: LedgerError.self, "byte \(place)") {
        try CommitRecord(Self.commit(bytes, hash: commit.hash))
      }
    }
  }

  /// The hash fits here, as if a program had written the damage.
  @Test func bytesThatEndEarlyOrGoOnAreRefused() throws {
    let bytes = Self.record.bytes
    for count in bytes.indices {
      #expect(throws: LedgerError.self, "\(count) bytes") {
        try CommitRecord(Self.commit(Array(bytes[..<count])))
      }
    }
    #expect(throws: LedgerError.self) { try CommitRecord(Self.commit(bytes + [0])) }
  }

  @Test func aRecordOfALaterVersionIsRefused() throws {
    var bytes = Self.record.bytes
    bytes[0] = 2
    #expect(
      throws: LedgerError.mismatch(
        "The commit 7 was written by a later version of ModelStore. Update this program.")
    ) { try CommitRecord(Self.commit(bytes)) }
  }
}
