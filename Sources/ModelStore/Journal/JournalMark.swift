#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// What a store says in the change journal about a transaction of its own: which rows are its, and
/// who wrote them. The last row of the transaction.
struct JournalMark: Hashable, Sendable {
  /// What a row about the journal itself says.
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

  /// That the transaction took another back, and what that comes to.
  struct Reversal: Hashable, Sendable {
    /// The transaction that was taken back.
    let reverted: TransactionID
    /// The one at the beginning of the chain, which took nothing back itself.
    let origin: TransactionID
    /// How long the chain is: 1 for an undo, 2 for a redo, and so on.
    let depth: Int64

    /// What taking back the transaction of `mark` comes to.
    init(of mark: JournalMark) {
      reverted = mark.id
      origin = mark.reversal?.origin ?? mark.id
      // Only the last bit counts, which is that of the number also when another program wrote it.
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

  /// In SQL, whether a row of the journal is a mark. In the words of the index
  /// `_ms_journal_marks`, by which marks are found.
  static let isMark: SQLText = "layout = 0 AND entry = 1"

  /// - Returns: nil when `row` is not a mark that a store wrote.
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

  /// Enters the mark, as the last row of the transaction that is open.
  func write(on connection: Connection) throws {
    // No statement is under way that could have noted something it may still evict.
    try connection.run("DELETE FROM _ms_journal_evicted")
    func value(_ number: Int64?) -> SQLValue { number.map { .integer($0) } ?? .null }
    try connection.run(
      """
      INSERT INTO _ms_journal (layout, entry, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9)
      VALUES (
        \(JournalLayout.journalNumber), \(Kind.transaction.rawValue), \(first), \(id.rawValue),
        \(time), \(program), \(process), \(SQLValue(signature.author)), \(SQLValue(signature.tag)),
        \(value(reversal?.reverted.rawValue)), \(value(reversal?.origin.rawValue)),
        \(value(reversal?.depth))
      )
      """)
  }
}

extension JournalMark {
  /// Runs `body`, and signs the changes of records that it entered in the change journal.
  ///
  /// - Throws: What `body` throws; ``SQLiteError``.
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

/// Who a program says wrote a transaction, and for what.
package struct TransactionSignature: Hashable, Sendable, Codable {
  /// On whose behalf; nil when the program did not say.
  package var author: String?
  /// What the transaction belongs to: "nightly import"; nil when the program did not say.
  package var tag: String?

  /// Who writes, and under which word of the caller's own; each may be left out.
  package init(author: String? = nil, tag: String? = nil) {
    self.author = author
    self.tag = tag
  }
}

/// The program that writes, as the change journal names it.
struct WritingProgram: Sendable {
  let name: String
  let process: Int64

  /// This one.
  init() {
    let path = CommandLine.arguments.first ?? ""
    name = path.split(separator: "/").last.map(String.init) ?? ""
    process = Int64(getpid())
  }

  /// Microseconds since 1970-01-01 00:00:00 UTC, by the system's clock.
  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
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
