/// What one COMMIT of a shared store changed: the net images of every row of every table that all
/// members have, the store's own tables included.
///
/// A row is identified as SQLite identifies it, so a member that applies the record has the same
/// rows at the same places. The positions of the change journal are equal on all members, too.
struct CommitRecord: Hashable, Sendable {
  /// One row before and after the commit. Both images have the table's columns that are not
  /// generated, in their order.
  struct Row: Hashable, Sendable {
    let identity: ChangeCapture.RowIdentity
    /// nil if the row is new. A value is nil if SQLite's hook does not know it: an old row does not
    /// store the default of a column that was added later, and some columns cannot be read.
    let before: [SQLValue?]?
    /// nil if the row was deleted.
    let after: [SQLValue]?
  }

  struct Table: Hashable, Sendable {
    let name: String
    var rows: [Row]
  }

  /// The largest row number that AUTOINCREMENT has given in a table. No hook reports it, so a
  /// record has the numbers of all tables.
  struct Sequence: Hashable, Sendable {
    let table: String
    let number: Int64
  }

  let number: CommitNumber
  /// The hash of the commit before.
  let previous: CommitHash
  let transaction: TransactionID
  let tables: [Table]
  let sequences: [Sequence]

  /// The number of rows.
  var rowCount: Int { tables.reduce(0) { $0 + $1.rows.count } }

  /// The commit for the ledger.
  var ledgerCommit: LedgerCommit {
    let bytes = self.bytes
    return LedgerCommit(
      number: number, transaction: transaction, hash: CommitHash(of: bytes), record: bytes)
  }
}

extension CommitRecord.Sequence {
  /// Returns the numbers of a file that has such tables, in the order of their names.
  static func all(on connection: Connection) throws -> [CommitRecord.Sequence] {
    try connection.rows("SELECT name, seq FROM main.sqlite_sequence ORDER BY name") { row in
      CommitRecord.Sequence(table: try row.text(at: 0), number: try row.integer(at: 1))
    }
  }
}

extension CommitRecord {
  /// The version of the form that ``bytes`` has.
  private static let version: UInt8 = 1

  /// A commit of few rows has no more bytes.
  private static let usualByteCount = 1_024

  /// The record in bytes: numbers as in Protocol Buffers
  /// (<https://protobuf.dev/programming-guides/encoding/#varints>), texts and blobs after their
  /// count of bytes.
  var bytes: [UInt8] {
    var writer = RecordWriter()
    writer.bytes.reserveCapacity(Self.usualByteCount)
    writer.bytes.append(Self.version)
    writer.add(number.rawValue)
    writer.bytes += previous.bytes
    writer.add(transaction.rawValue)
    writer.add(count: tables.count)
    for table in tables {
      writer.add(table.name)
      writer.add(count: table.rows.count)
      for row in table.rows { writer.add(row) }
    }
    writer.add(count: sequences.count)
    for sequence in sequences {
      writer.add(sequence.table)
      writer.add(sequence.number)
    }
    return writer.bytes
  }

  /// Reads the record of `commit`.
  ///
  /// - Throws: ``LedgerError/mismatch(_:)`` if the bytes do not have the commit's hash, are
  ///   damaged, or have the form of a later version.
  init(_ commit: LedgerCommit) throws(LedgerError) {
    guard CommitHash(of: commit.record) == commit.hash else {
      throw .mismatch(
        "The commit \(commit.number) does not have the hash that the ledger has for it.")
    }
    var reader = RecordReader(commit.record)
    do throws(RecordReader.Damage) {
      guard try reader.byte() == Self.version else { throw .laterVersion }
      number = CommitNumber(rawValue: try reader.number())
      previous = CommitHash(bytes: try reader.take(SHA256.byteCount))
      transaction = TransactionID(rawValue: try reader.number())
      tables = try reader.list { reader throws(RecordReader.Damage) in
        Table(
          name: try reader.text(),
          rows: try reader.list { reader throws(RecordReader.Damage) in try reader.row() })
      }
      sequences = try reader.list { reader throws(RecordReader.Damage) in
        Sequence(table: try reader.text(), number: try reader.number())
      }
      guard reader.isAtEnd, number == commit.number, transaction == commit.transaction else {
        throw .bytes
      }
    } catch {
      switch error {
      case .laterVersion:
        throw .mismatch(
          "The commit \(commit.number) was written by a later version of ModelStore. Update this program."
        )
      case .bytes: throw .mismatch("The commit \(commit.number) is damaged in the ledger.")
      }
    }
  }
}

private enum ValueTag: UInt8 {
  case null, integer, real, text, blob, unknown
}

private enum IdentityTag: UInt8 {
  case rowID, key
}

/// Writes the parts of a record.
struct RecordWriter {
  var bytes: [UInt8] = []

  /// Adds a number in zigzag form, so that small negative numbers are short too.
  mutating func add(_ number: Int64) {
    add(bits: UInt64(bitPattern: (number << 1) ^ (number >> 63)))
  }

  mutating func add(count: Int) { add(bits: UInt64(count)) }

  private mutating func add(bits: UInt64) {
    var rest = bits
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func add(_ text: String) {
    add(count: text.utf8.count)
    var text = text
    text.withUTF8 { bytes.append(contentsOf: $0) }
  }

  mutating func add(_ value: SQLValue?) {
    switch value {
    case nil: bytes.append(ValueTag.unknown.rawValue)
    case .null: bytes.append(ValueTag.null.rawValue)
    case .integer(let number):
      bytes.append(ValueTag.integer.rawValue)
      add(number)
    case .real(let number):
      bytes.append(ValueTag.real.rawValue)
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: number.bitPattern >> shift))
      }
    case .text(let text):
      bytes.append(ValueTag.text.rawValue)
      add(text)
    case .blob(let blob):
      bytes.append(ValueTag.blob.rawValue)
      add(count: blob.count)
      bytes += blob
    }
  }

  mutating func add(_ row: CommitRecord.Row) {
    switch row.identity {
    case .rowID(let number):
      bytes.append(IdentityTag.rowID.rawValue)
      add(number)
    case .key(let values):
      bytes.append(IdentityTag.key.rawValue)
      add(count: values.count)
      for value in values { add(value) }
    }
    // Not one function for both: Swift converts an array of values to one of optionals slowly.
    add(imageCount: row.before?.count)
    for value in row.before ?? [] { add(value) }
    add(imageCount: row.after?.count)
    for value in row.after ?? [] { add(value) }
  }

  /// Adds the number of an image's values plus 1; 0 for no image.
  private mutating func add(imageCount: Int?) { add(count: imageCount.map { $0 + 1 } ?? 0) }
}

/// Reads the parts of a record. The bytes may come from anybody, so each count is checked.
struct RecordReader {
  enum Damage: Error { case bytes, laterVersion }

  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { place == bytes.count }

  mutating func byte() throws(Damage) -> UInt8 {
    guard place < bytes.count else { throw .bytes }
    defer { place += 1 }
    return bytes[place]
  }

  mutating func take(_ count: Int) throws(Damage) -> [UInt8] {
    guard count <= bytes.count - place else { throw .bytes }
    defer { place += count }
    return Array(bytes[place..<place + count])
  }

  private mutating func bits() throws(Damage) -> UInt64 {
    var bits: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      let byte = try byte()
      guard shift < 63 || byte <= 1 else { throw .bytes }
      bits |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return bits }
    }
    throw .bytes
  }

  mutating func number() throws(Damage) -> Int64 {
    let bits = try bits()
    return Int64(bitPattern: bits >> 1) ^ -Int64(bits & 1)
  }

  /// Reads a number of things that take at least one byte each.
  mutating func count() throws(Damage) -> Int {
    guard let count = Int(exactly: try bits()), count <= bytes.count - place else { throw .bytes }
    return count
  }

  mutating func text() throws(Damage) -> String {
    guard let text = String(validating: try take(try count()), as: UTF8.self) else { throw .bytes }
    return text
  }

  mutating func list<Element>(
    _ element: (inout RecordReader) throws(Damage) -> Element
  ) throws(Damage) -> [Element] {
    var list: [Element] = []
    for _ in 0..<(try count()) { list.append(try element(&self)) }
    return list
  }

  /// - Returns: nil for a value that is not known.
  private mutating func value() throws(Damage) -> SQLValue? {
    switch ValueTag(rawValue: try byte()) {
    case nil: throw .bytes
    case .unknown: return nil
    case .null: return .null
    case .integer: return .integer(try number())
    case .real:
      let bits = try take(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return .real(Double(bitPattern: bits))
    case .text: return .text(try text())
    case .blob: return .blob(try take(try count()))
    }
  }

  private mutating func knownValue() throws(Damage) -> SQLValue {
    guard let value = try value() else { throw .bytes }
    return value
  }

  mutating func row() throws(Damage) -> CommitRecord.Row {
    let identity: ChangeCapture.RowIdentity
    switch IdentityTag(rawValue: try byte()) {
    case nil: throw .bytes
    case .rowID: identity = .rowID(try number())
    case .key:
      identity = .key(
        try list { reader throws(Damage) in try reader.knownValue() })
    }
    let before = try image { reader throws(Damage) in try reader.value() }
    let after = try image { reader throws(Damage) in try reader.knownValue() }
    return CommitRecord.Row(identity: identity, before: before, after: after)
  }

  private mutating func image<Value>(
    _ value: (inout RecordReader) throws(Damage) -> Value
  ) throws(Damage) -> [Value]? {
    let count = try count()
    guard count > 0 else { return nil }
    var image: [Value] = []
    for _ in 1..<count { image.append(try value(&self)) }
    return image
  }
}
