/// Reads values from the bytes of a ``SortKey``, from its beginning. It is not an inverse of the
/// encoding: a whole real is read as the integer that SQLite calls equal, and collated text keeps
/// its folded form. Such values can only be skipped.
struct SortKeyDecoder {
  private let key: SortKey
  private var position = 0
  private var mask: UInt8 = 0

  init(_ key: SortKey) {
    self.key = key
  }

  /// Skips the value that was encoded by `term`.
  mutating func skip(_ term: SortTerm) {
    mask = term.direction == .ascending ? 0x00 : 0xFF
    let raw = key.byte(at: position)
    position += 1
    // Only NULL is not inverted. No other value begins with this byte in either direction.
    guard raw != SortKeyLead.nullFirst, raw != SortKeyLead.nullLast else { return }
    switch raw ^ mask {
    case SortKeyLead.text where term.collation == .nocase: skipFolded()
    case SortKeyLead.text, SortKeyLead.blob: while takeEscaped() != nil {}
    case let lead: _ = takeNumber(lead)
    }
  }

  /// The next value, encoded in ascending BINARY order.
  mutating func next() -> SQLValue {
    mask = 0
    let lead = take()
    switch lead {
    case SortKeyLead.nullFirst, SortKeyLead.nullLast: return .null
    case SortKeyLead.text: return .text(String(decoding: takeBytes(), as: UTF8.self))
    case SortKeyLead.blob: return .blob(takeBytes())
    default: return takeNumber(lead)
    }
  }

  private mutating func take() -> UInt8 {
    defer { position += 1 }
    return key.byte(at: position) ^ mask
  }

  /// The next byte of a text or blob, or nil at its end.
  private mutating func takeEscaped() -> UInt8? {
    let byte = take()
    switch byte {
    case SortKeyEscape.end: return nil
    case SortKeyEscape.mark: return take() - SortKeyEscape.zero
    default: return byte
    }
  }

  private mutating func takeBytes() -> [UInt8] {
    var bytes: [UInt8] = []
    while let byte = takeEscaped() { bytes.append(byte) }
    return bytes
  }

  /// A folded text ends at its first NUL, with its length.
  private mutating func skipFolded() {
    while let byte = takeEscaped() {
      if byte == 0 {
        position += 8
        return
      }
    }
  }

  private mutating func take(bytes: Int, isNegative: Bool) -> UInt64 {
    var bits: UInt64 = 0
    for _ in 0..<bytes { bits = bits << 8 | UInt64(isNegative ? ~take() : take()) }
    return bits
  }

  private mutating func takeNumber(_ lead: UInt8) -> SQLValue {
    let isNegative = lead < SortKeyLead.zero
    func real(_ magnitude: Double) -> SQLValue { .real(isNegative ? -magnitude : magnitude) }
    let range = isNegative ? SortKeyLead.zero - lead : lead - SortKeyLead.zero
    switch range {
    case 0: return .integer(0)
    case SortKeyMagnitude.fraction, SortKeyMagnitude.huge:
      return real(Double(bitPattern: take(bytes: 8, isNegative: isNegative)))
    case SortKeyMagnitude.large:
      let whole = take(bytes: 8, isNegative: isNegative)
      return Self.integer(whole, isNegative).map { .integer($0) } ?? real(Double(whole))
    default:
      let bytes = Int(range - SortKeyMagnitude.small)
      let flagged = take(bytes: bytes, isNegative: isNegative)
      let whole = flagged >> 1
      guard flagged & 1 == 1 else {
        return Self.integer(whole, isNegative).map { .integer($0) } ?? real(Double(whole))
      }
      let bits = 53 - (64 - whole.leadingZeroBitCount)
      let scaled = take(bytes: (bits + 7) / 8, isNegative: isNegative)
      return real(
        Double(whole) + Double(sign: .plus, exponent: -bits, significand: Double(scaled)))
    }
  }

  private static func integer(_ magnitude: UInt64, _ isNegative: Bool) -> Int64? {
    isNegative ? Int64(exactly: -Int128(magnitude)) : Int64(exactly: magnitude)
  }
}
