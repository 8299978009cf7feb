#if canImport(Glibc)
  internal import Glibc
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
  /// The transactions that this one took back.
  var reverted: TransactionID?

  init(
    first: Int64, id: TransactionID, time: Int64, program: String, process: Int64,
    signature: TransactionSignature, reverted: TransactionID?
  ) {
    self.first = first
    self.id = id
    self.time = time
    self.program = program
    self.process = process
    self.signature = signature
    self.reverted = reverted
  }

  /// - Returns: nil when `values` are not those of a mark.
  init?(_ values: [SQLValue]) {
    guard case .integer(let first) = values[0], case .integer(let id) = values[1],
      case .integer(let time) = values[2], case .text(let program) = values[3],
      case .integer(let process) = values[4]
    else { return nil }
    self.init(
      first: first, id: TransactionID(rawValue: id), time: time, program: program,
      process: process,
      signature: TransactionSignature(author: values[5].asText, tag: values[6].asText),
      reverted: values[7].asInteger.map { TransactionID(rawValue: $0) })
  }

  /// Enters the mark, as the last row of the transaction that is open.
  func write(on connection: Connection) throws {
    try connection.run(
      """
      INSERT INTO _ms_journal (layout, entry, c0, c1, c2, c3, c4, c5, c6, c7)
      VALUES (
        \(JournalLayout.journalNumber), \(Kind.transaction.rawValue), \(first), \(id.rawValue),
        \(time), \(program), \(process), \(SQLValue(signature.author)), \(SQLValue(signature.tag)),
        \(reverted.map { .integer($0.rawValue) } ?? SQLValue.null)
      )
      """)
  }
}

/// Which transaction of which store: a number drawn at random, so that it can be told apart in
/// every file and process.
public struct TransactionID: Hashable, Sendable, Codable, RawRepresentable {
  public let rawValue: Int64

  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// One that no transaction has had yet.
  static func make() -> TransactionID {
    TransactionID(rawValue: Int64.random(in: 1...Int64.max))
  }
}

extension TransactionID: CustomStringConvertible {
  /// Base 36, as the command line shows and takes it.
  public var description: String { String(rawValue, radix: 36) }

  /// The transaction that ``description`` was made of; nil for any other text.
  public init?(_ description: String) {
    guard let number = Int64(description, radix: 36), number > 0 else { return nil }
    self.init(rawValue: number)
  }
}

/// Who a program says wrote a transaction, and for what.
public struct TransactionSignature: Hashable, Sendable, Codable {
  /// On whose behalf; nil when the program did not say.
  public var author: String?
  /// What the transaction belongs to: "nightly import"; nil when the program did not say.
  public var tag: String?

  public init(author: String? = nil, tag: String? = nil) {
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
