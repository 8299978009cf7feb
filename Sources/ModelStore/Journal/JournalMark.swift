/// A commit record: the last row of a store's transaction in the change journal. It says which rows
/// belong to the transaction, and who wrote them.
struct JournalMark: Hashable, Sendable {
  /// The kinds of rows about the journal itself.
  enum Kind: Int64, Hashable, Sendable {
    case transaction = 1
    case started = 2
    case stopped = 3
  }

  /// The position of the transaction's first row.
  var first: Int64
  var id: TransactionID
  /// Microseconds since 1970-01-01 00:00:00 UTC.
  var time: Int64
  var program: String
  var process: Int64
  var signature = TransactionSignature()
  var reversal: Reversal?

  /// The undo of another transaction, and its effect on the chain of undos and redos.
  struct Reversal: Hashable, Sendable {
    /// The transaction that was undone.
    let reverted: TransactionID
    /// The first transaction of the chain, which did not undo another.
    let origin: TransactionID
    /// The length of the chain: 1 for an undo, 2 for a redo, and so on.
    let depth: Int64

    /// Creates the undo of the transaction of `mark`.
    init(of mark: JournalMark) {
      reverted = mark.id
      origin = mark.reversal?.origin ?? mark.id
      // Only the lowest bit is used. It is correct even for an overflowing number of another
      // program.
      depth = (mark.reversal?.depth ?? 0) &+ 1
    }

    fileprivate init?(_ values: ArraySlice<SQLValue>) {
      let numbers = values.compactMap(\.asInteger)
      guard numbers.count == 3 else { return nil }
      reverted = TransactionID(rawValue: numbers[0])
      origin = TransactionID(rawValue: numbers[1])
      depth = numbers[2]
    }
  }

  init(
    first: Int64, id: TransactionID, time: Int64, program: String, process: Int64,
    signature: TransactionSignature, reversal: Reversal?
  ) {
    self.first = first
    self.id = id
    self.time = time
    self.program = program
    self.process = process
    self.signature = signature
    self.reversal = reversal
  }

  /// The SQL condition that a row of the journal is a commit record. It matches the condition of
  /// the index `_ms_journal_marks`, so that SQLite uses the index.
  static let isMark: SQLText = "layout = 0 AND entry = 1"

  /// - Returns: nil if `row` is not a commit record of a store.
  init?(_ row: JournalRow) {
    let values = row.values
    guard case .integer(let first) = values[0], case .integer(let id) = values[1],
      case .integer(let time) = values[2], case .text(let program) = values[3],
      case .integer(let process) = values[4], first >= 1, first <= row.position
    else { return nil }
    self.init(
      first: first, id: TransactionID(rawValue: id), time: time, program: program,
      process: process,
      signature: TransactionSignature(author: values[5].asText, tag: values[6].asText),
      reversal: Reversal(values[7...9]))
  }

  /// Writes the commit record as the last row of the open transaction.
  func write(on connection: Connection) throws {
    // No statement is running, so no note is needed any more.
    try connection.run("DELETE FROM _ms_journal_evicted")
    func value(_ number: Int64?) -> SQLValue { number.map { .integer($0) } ?? .null }
    try connection.run(
      SQLText(
        sql: Self.insertion,
        arguments: [
          .integer(JournalLayout.journalNumber), .integer(Kind.transaction.rawValue),
          .integer(first), .integer(id.rawValue), .integer(time), .text(program),
          .integer(process), SQLValue(signature.author), SQLValue(signature.tag),
          value(reversal?.reverted.rawValue), value(reversal?.origin.rawValue),
          value(reversal?.depth),
        ]))
  }

  /// Static, because it runs in each transaction.
  private static let insertion = """
    INSERT INTO _ms_journal (layout, entry, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
}

extension JournalMark {
  /// Runs `body`, and adds a commit record for the changes of records that it made.
  ///
  /// - Throws: The error of `body`; ``SQLiteError``.
  /// - Precondition: A write transaction is open.
  static func signing<Result>(
    on connection: Connection, _ body: () throws -> Result
  ) throws -> Result {
    guard try JournalLayouts(reading: connection) != nil,
      let first = try JournalReader.next(on: connection)
    else { return try body() }
    let result = try body()
    let entered = try connection.firstRow(
      """
      SELECT 1
      FROM _ms_journal
      WHERE position >= \(first) AND layout <> \(JournalLayout.journalNumber)
      """
    ) { try $0.integer(at: 0) }
    guard entered != nil else { return result }
    let program = WritingProgram()
    try JournalMark(
      first: first, id: TransactionID.make(first: first), time: WritingProgram.now,
      program: program.name, process: program.process, signature: TransactionSignature(),
      reversal: nil
    ).write(on: connection)
    return result
  }
}

/// The author and the tag of a transaction.
package struct TransactionSignature: Hashable, Sendable, Codable {
  /// The user for whom the transaction was made; nil if the program did not set it.
  package var author: String?
  /// The purpose of the transaction, for example "nightly import"; nil if the program did not set
  /// it.
  package var tag: String?

  /// Creates a signature. You may leave out either value.
  package init(author: String? = nil, tag: String? = nil) {
    self.author = author
    self.tag = tag
  }
}

extension SQLValue {
  fileprivate init(_ text: String?) {
    self = text.map { .text($0) } ?? .null
  }

  fileprivate var asText: String? {
    if case .text(let text) = self { return text }
    return nil
  }

  fileprivate var asInteger: Int64? {
    if case .integer(let number) = self { return number }
    return nil
  }
}
