/// The states of RFC 4180, byte by byte, with pauses wherever the input pauses.
///
///     fieldStart ──"──▶ quoted ──"──▶ quoteSeen ──,──▶ fieldStart
///         │               ▲───────"──────┘ │
///         └──other──▶ bare ──,──▶ fieldStart   LF, CR LF ──▶ record
///
/// It finds where fields lie and decodes nothing. Beyond the RFC it takes LF for CR LF; it refuses
/// a quote inside a bare field, text after a closing quote and a carriage return on its own.
/// Where quotes mean nothing, as in TSV, every field is bare.
struct CSVScanner: Sendable {
  /// Where a field lies in its record, without its quotes.
  struct Field: Hashable, Sendable {
    var start: Int
    var end: Int
    var isQuoted: Bool
    /// Whether quotes inside are still doubled.
    var hasDoubledQuotes: Bool
  }

  /// What a scan came to.
  enum Outcome: Hashable, Sendable {
    /// The record goes on behind these bytes; scan again with more of them.
    case unfinished
    /// ``fields`` is complete; the record took this many bytes, its line end included.
    case record(byteCount: Int)
    /// There is no further record.
    case end
    /// The byte at this offset is wrong; where the next record begins is unknown.
    case refused(Fault, offset: Int)
  }

  /// What breaks the grammar.
  enum Fault: String, Hashable, Sendable {
    case quoteInBareField = "a quote stands inside a field that does not begin with one"
    case textAfterQuote = "text follows the closing quote of a field"
    case loneCarriageReturn = "a carriage return without a line feed stands outside quotes"
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
  enum Quoting: Hashable, Sendable {
    case quotes
    case none
  }

  private let delimiter: UInt8
  private let quoting: Quoting
  private var state = State.fieldStart
  private var offset = 0
  private var field = Field(start: 0, end: 0, isQuoted: false, hasDoubledQuotes: false)
  private var allBits: UInt8 = 0

  /// The fields found so far.
  private(set) var fields: [Field] = []

  init(delimiter: UInt8, quoting: Quoting = .quotes) {
    self.delimiter = delimiter
    self.quoting = quoting
  }

  /// Whether every byte scanned is ASCII.
  var isASCII: Bool { allBits < 0x80 }

  /// Forgets the record; the next scan begins at a new one.
  mutating func reset() {
    state = .fieldStart
    offset = 0
    allBits = 0
    fields.removeAll(keepingCapacity: true)
  }

  /// Scans on where it stopped. `bytes` are the record from its first byte, as far as it is known;
  /// `isAtEnd` says that the input ends with them.
  mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>, isAtEnd: Bool) -> Outcome {
    var index = offset
    let count = bytes.count
    let delimiter = delimiter
    // A delimiter ends the bare field in any case, so it can stand in for a quote that ends none.
    let quote = quoting == .quotes ? UInt8(ascii: "\"") : delimiter
    while index < count {
      switch state {
      case .fieldStart:
        let isQuoted = bytes[index] == UInt8(ascii: "\"") && quoting == .quotes
        if isQuoted { index += 1 }
        field = Field(start: index, end: index, isQuoted: isQuoted, hasDoubledQuotes: false)
        state = isQuoted ? .quoted : .bare

      case .bare:
        var bits = allBits
        var byte: UInt8 = 0
        while index < count {
          byte = bytes[index]
          if byte == delimiter || byte == 0x0A || byte == 0x0D || byte == quote { break }
          bits |= byte
          index += 1
        }
        allBits = bits
        guard index < count else { break }
        if byte == quote, quote != delimiter {
          return .refused(.quoteInBareField, offset: index)
        }
        field.end = index
        index += 1
        if let outcome = endField(by: byte, at: index) { return outcome }

      case .quoted:
        var bits = allBits
        while index < count, bytes[index] != 0x22 {
          bits |= bytes[index]
          index += 1
        }
        allBits = bits
        guard index < count else { break }
        field.end = index
        index += 1
        state = .quoteSeen

      case .quoteSeen:
        let byte = bytes[index]
        if byte == UInt8(ascii: "\"") {
          field.hasDoubledQuotes = true
          index += 1
          state = .quoted
        } else if byte == delimiter || byte == 0x0A || byte == 0x0D {
          index += 1
          if let outcome = endField(by: byte, at: index) { return outcome }
        } else {
          return .refused(.textAfterQuote, offset: index)
        }

      case .carriageReturn:
        guard bytes[index] == 0x0A else {
          return .refused(.loneCarriageReturn, offset: index - 1)
        }
        return .record(byteCount: index + 1)
      }
    }
    offset = index
    return isAtEnd ? finished(at: count) : .unfinished
  }

  /// Ends the field before the delimiter or line end `byte`, which lies just before `index`.
  private mutating func endField(by byte: UInt8, at index: Int) -> Outcome? {
    fields.append(field)
    switch byte {
    case UInt8(ascii: "\n"): return .record(byteCount: index)
    case UInt8(ascii: "\r"):
      state = .carriageReturn
      return nil
    default:
      state = .fieldStart
      return nil
    }
  }

  /// What the end of the input means in each state.
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
