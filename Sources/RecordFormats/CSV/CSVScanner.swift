/// The states of RFC 4180, byte by byte, with pauses wherever the input pauses.
///
///     fieldStart ──"──▶ quoted ──"──▶ quoteSeen ──,──▶ fieldStart
///         │               ▲───────"──────┘ │
///         └──other──▶ bare ──,──▶ fieldStart   LF, CR LF ──▶ record
///
/// It finds the ranges of fields and decodes nothing. Beyond the RFC it accepts LF for CR LF. It
/// refuses text after a closing quote, and a carriage return without a line feed. A quote inside a
/// bare field is a ``flaw`` of the record, whose end is known all the same. If quotes have no
/// meaning, as in TSV, every field is bare.
package struct CSVScanner: Sendable {
  /// The range of a field in its record, without its quotes.
  struct Field: Hashable, Sendable {
    var start: Int
    var end: Int
    var isQuoted: Bool
    /// Whether quotes inside are still doubled.
    var hasDoubledQuotes: Bool
  }

  /// The result of a scan.
  enum Outcome: Hashable, Sendable {
    /// The record continues after these bytes; scan again with more of them.
    case unfinished
    /// ``fields`` is complete. The record has this many bytes, its line end included.
    case record(byteCount: Int)
    /// There is no further record.
    case end
    /// The byte at this offset is wrong; the start of the next record is unknown.
    case refused(Fault, offset: Int)
  }

  /// An error in the grammar.
  enum Fault: String, Hashable, Sendable {
    case quoteInBareField = "a quote is inside a field that does not begin with a quote"
    case textAfterQuote =
      "text follows the closing quote of a field, so the end of its record is not known"
    case loneCarriageReturn = "a carriage return without a line feed is outside quotes"
    case unterminatedQuote = "this quote is never closed"
  }

  private enum State {
    case fieldStart
    case bare
    case quoted
    case quoteSeen
    case carriageReturn
  }

  /// Whether quotes around a field are part of the format.
  package enum Quoting: Hashable, Sendable {
    case quotes
    case none
  }

  private let delimiter: UInt8
  /// The byte that quotes a field. Without quotes it is the delimiter, which ends a bare field in
  /// any case.
  private let quote: UInt8
  private var state = State.fieldStart
  private var offset = 0
  private var field = Field(start: 0, end: 0, isQuoted: false, hasDoubledQuotes: false)
  private var allBits: UInt8 = 0

  /// The fields found so far.
  private(set) var fields: [Field] = []
  /// The first error in the record that does not hide where the record ends, and its place.
  private(set) var flaw: (fault: Fault, offset: Int)?

  init(delimiter: UInt8, quoting: Quoting = .quotes) {
    self.delimiter = delimiter
    quote = quoting == .quotes ? UInt8(ascii: "\"") : delimiter
  }

  /// Whether every byte scanned is ASCII.
  var isASCII: Bool { allBits < 0x80 }

  /// Forgets the record; the next scan begins a new one.
  mutating func reset() {
    state = .fieldStart
    offset = 0
    allBits = 0
    flaw = nil
    fields.removeAll(keepingCapacity: true)
  }

  /// Continues the scan. `bytes` are the bytes of the record known so far; `isAtEnd` is true if the
  /// input ends with them.
  mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>, isAtEnd: Bool) -> Outcome {
    while offset < bytes.count {
      if let outcome = step(over: bytes) { return outcome }
    }
    return isAtEnd ? finished(at: bytes.count) : .unfinished
  }

  /// Scans to the next change of state, or to the end of `bytes`, of which at least one remains.
  private mutating func step(over bytes: UnsafeBufferPointer<UInt8>) -> Outcome? {
    switch state {
    case .fieldStart:
      beginField(with: bytes[offset])
      return state == .bare ? scanBare(bytes) : nil
    case .bare: return scanBare(bytes)
    case .quoted:
      scanQuoted(bytes)
      return nil
    case .quoteSeen: return takeByteAfterQuote(bytes[offset])
    case .carriageReturn:
      return bytes[offset] == UInt8(ascii: "\n")
        ? .record(byteCount: offset + 1) : .refused(.loneCarriageReturn, offset: offset - 1)
    }
  }

  /// Begins a field. It consumes the first byte only if it is a quote.
  private mutating func beginField(with byte: UInt8) {
    let isQuoted = byte == quote && quote != delimiter
    if isQuoted { offset += 1 }
    field = Field(start: offset, end: offset, isQuoted: isQuoted, hasDoubledQuotes: false)
    state = isQuoted ? .quoted : .bare
  }

  /// Scans a bare field up to the delimiter or line end.
  private mutating func scanBare(_ bytes: UnsafeBufferPointer<UInt8>) -> Outcome? {
    let (delimiter, quote) = (delimiter, quote)
    var bits = allBits
    var index = offset
    var byte: UInt8 = 0
    while index < bytes.count {
      byte = bytes[index]
      if byte == delimiter || byte == 0x0A || byte == 0x0D || byte == quote { break }
      bits |= byte
      index += 1
    }
    allBits = bits
    offset = index
    guard index < bytes.count else { return nil }
    if byte == quote, quote != delimiter {
      if flaw == nil { flaw = (.quoteInBareField, index) }
      offset += 1
      return nil
    }
    field.end = index
    return endField(by: byte)
  }

  /// Scans a quoted field up to the next quote, which closes it or is the first of two.
  private mutating func scanQuoted(_ bytes: UnsafeBufferPointer<UInt8>) {
    var bits = allBits
    var index = offset
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      bits |= bytes[index]
      index += 1
    }
    allBits = bits
    offset = index
    guard index < bytes.count else { return }
    field.end = index
    offset += 1
    state = .quoteSeen
  }

  private mutating func takeByteAfterQuote(_ byte: UInt8) -> Outcome? {
    switch byte {
    case UInt8(ascii: "\""):
      field.hasDoubledQuotes = true
      offset += 1
      state = .quoted
      return nil
    case delimiter, UInt8(ascii: "\n"), UInt8(ascii: "\r"): return endField(by: byte)
    default: return .refused(.textAfterQuote, offset: offset)
    }
  }

  /// Ends the field before the delimiter or line end `byte`, which comes next.
  private mutating func endField(by byte: UInt8) -> Outcome? {
    fields.append(field)
    offset += 1
    switch byte {
    case UInt8(ascii: "\n"): return .record(byteCount: offset)
    case UInt8(ascii: "\r"): state = .carriageReturn
    default: state = .fieldStart
    }
    return nil
  }

  /// Returns the outcome at the end of the input, for each state.
  private mutating func finished(at count: Int) -> Outcome {
    switch state {
    case .fieldStart:
      if fields.isEmpty { return .end }
      field = Field(start: count, end: count, isQuoted: false, hasDoubledQuotes: false)
      fields.append(field)
    case .bare:
      field.end = count
      fields.append(field)
    case .quoteSeen: fields.append(field)
    case .quoted: return .refused(.unterminatedQuote, offset: field.start - 1)
    case .carriageReturn: return .refused(.loneCarriageReturn, offset: count - 1)
    }
    return .record(byteCount: count)
  }
}
