/// Writes values as the bytes of one ``SortKey``, term by term.
///
/// The rules are those of https://sqlite.org/datatype3.html#sort_order and of SQLite's built-in
/// collating sequences on UTF-8 text.
struct SortKeyEncoder {
  private var first: UInt64 = 0
  private var second: UInt64 = 0
  private var third: UInt64 = 0
  private var length = 0
  private var rest: ContiguousArray<UInt8> = []
  /// FF while a descending term is written, 00 otherwise.
  private var mask: UInt8 = 0

  private static let inlineCapacity = 23

  /// The bytes written so far.
  var storage: SortKey.Storage {
    guard length <= Self.inlineCapacity else { return .spilled(first, second, rest) }
    return .inline(
      first,
      second,
      UInt32(truncatingIfNeeded: third >> 32),
      UInt16(truncatingIfNeeded: third >> 16),
      UInt8(truncatingIfNeeded: third >> 8))
  }

  mutating func encode(_ value: SQLValue, by term: SortTerm) {
    mask = term.direction == .ascending ? 0x00 : 0xFF
    switch value {
    case .null: encodeNull(term.nulls)
    case .integer(let integer): encode(integer)
    // SQLite stores NaN as NULL.
    case .real(let real) where real.isNaN: encodeNull(term.nulls)
    case .real(let real): encode(real)
    case .text(let text): encode(text, collation: term.collation)
    case .blob(let blob):
      append(SortKeyLead.blob)
      for byte in blob { appendEscaped(byte) }
      append(SortKeyEscape.end)
    }
  }

  /// Encodes a text of which each byte is written as it is: ASCII without the bytes 0 and 1, in
  /// BINARY order. Most texts are of this kind.
  ///
  /// - Returns: false for another text, or another order. Then nothing is written.
  mutating func encode(plainText bytes: Span<UInt8>, by term: SortTerm) -> Bool {
    guard term.collation == .binary, Self.arePlain(bytes) else { return false }
    mask = term.direction == .ascending ? 0x00 : 0xFF
    append(SortKeyLead.text)
    var place = 0
    while place < bytes.count {
      let count = min(8, bytes.count - place)
      guard length + count <= Self.inlineCapacity else { break }
      appendInline(bytes.word(at: place, count), bytes: count)
      place += count
    }
    while place < bytes.count {
      append(bytes[place])
      place += 1
    }
    append(SortKeyEscape.end)
    return true
  }

  private static func arePlain(_ bytes: Span<UInt8>) -> Bool {
    let (lowest, highest): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
    var place = 0
    while place + 8 <= bytes.count {
      let word = bytes.word(at: place, 8)
      // No byte has its highest bit, so the difference has one only if a byte is less than 2.
      guard word & highest == 0, (word &- 2 * lowest) & highest == 0 else { return false }
      place += 8
    }
    while place < bytes.count {
      guard bytes[place] > 1, bytes[place] < 0x80 else { return false }
      place += 1
    }
    return true
  }

  private mutating func encodeNull(_ placement: SortTerm.NullPlacement) {
    // Placement is independent of direction, so the byte cancels the inversion.
    append((placement == .first ? SortKeyLead.nullFirst : SortKeyLead.nullLast) ^ mask)
  }
}

/// The first byte of a value, which orders the storage classes.
enum SortKeyLead {
  static let nullFirst: UInt8 = 0x00
  static let zero: UInt8 = 0x40
  static let text: UInt8 = 0xA0
  static let blob: UInt8 = 0xB0
  static let nullLast: UInt8 = 0xFF
}

/// How bytes 0 and 1 are written inside a text or blob, so that a bare 0 can end it.
enum SortKeyEscape {
  static let end: UInt8 = 0x00
  static let mark: UInt8 = 0x01
  static let zero: UInt8 = 0x01
  static let one: UInt8 = 0x02
}

/// Ranges of the magnitude of a number, in ascending order.
enum SortKeyMagnitude {
  /// Between 0 and 1: the bits of the Double.
  static let fraction: UInt8 = 1
  /// From 1 to below 2^53, plus the bytes of the whole part (1 to 7): the whole part shifted left
  /// by one, with a set lowest bit when a fraction follows.
  static let small: UInt8 = 1
  /// From 2^53 to below 2^64, where every Double is whole: the integer.
  static let large: UInt8 = 9
  /// 2^64 and more, infinity included: the bits of the Double.
  static let huge: UInt8 = 10
}

extension SortKeyEncoder {
  private mutating func encode(_ integer: Int64) {
    encodeWhole(integer.magnitude, fraction: 0, isNegative: integer < 0)
  }

  private mutating func encode(_ real: Double) {
    let magnitude = real.magnitude
    let isNegative = real < 0
    if magnitude >= 0x1p64 {
      appendLead(SortKeyMagnitude.huge, isNegative: isNegative)
      append(magnitude.bitPattern, bytes: 8, isNegative: isNegative)
    } else if magnitude > 0, magnitude < 1 {
      appendLead(SortKeyMagnitude.fraction, isNegative: isNegative)
      append(magnitude.bitPattern, bytes: 8, isNegative: isNegative)
    } else {
      let whole = UInt64(magnitude)
      encodeWhole(whole, fraction: magnitude - Double(whole), isNegative: isNegative)
    }
  }

  private mutating func encodeWhole(_ whole: UInt64, fraction: Double, isNegative: Bool) {
    if whole == 0 {
      append(SortKeyLead.zero)
    } else if whole >= 1 << 53 {
      appendLead(SortKeyMagnitude.large, isNegative: isNegative)
      append(whole, bytes: 8, isNegative: isNegative)
    } else {
      let flagged = whole << 1 | (fraction > 0 ? 1 : 0)
      let bytes = (64 - flagged.leadingZeroBitCount + 7) / 8
      appendLead(SortKeyMagnitude.small + UInt8(bytes), isNegative: isNegative)
      append(flagged, bytes: bytes, isNegative: isNegative)
      if fraction > 0 {
        // A Double has 53 significant bits. The bits that the whole part leaves hold the fraction
        // exactly.
        let bits = 53 - (64 - whole.leadingZeroBitCount)
        let scaled = UInt64(Double(sign: .plus, exponent: bits, significand: fraction))
        append(scaled, bytes: (bits + 7) / 8, isNegative: isNegative)
      }
    }
  }

  private mutating func appendLead(_ magnitude: UInt8, isNegative: Bool) {
    append(isNegative ? SortKeyLead.zero - magnitude : SortKeyLead.zero + magnitude)
  }

  private mutating func append(_ bits: UInt64, bytes: Int, isNegative: Bool) {
    let bits = isNegative ? ~bits : bits
    guard length + bytes > Self.inlineCapacity || bytes == 0 else {
      return appendInline(bits, bytes: bytes)
    }
    for index in (0..<bytes).reversed() {
      append(UInt8(truncatingIfNeeded: bits >> UInt64(8 * index)))
    }
  }

  /// Appends the last `bytes` bytes of `bits`, at least one, to a key that keeps them inline, all
  /// at once.
  private mutating func appendInline(_ bits: UInt64, bytes: Int) {
    let masked = mask == 0 ? bits : ~bits
    let word = masked << UInt64(64 - 8 * bytes)
    switch length {
    case 0..<8:
      first |= word >> UInt64(8 * length)
      if length + bytes > 8 { second |= word << UInt64(64 - 8 * length) }
    case 8..<16:
      second |= word >> UInt64(8 * (length - 8))
      if length + bytes > 16 { third |= word << UInt64(64 - 8 * (length - 8)) }
    default:
      third |= word >> UInt64(8 * (length - 16))
    }
    length += bytes
  }
}

extension SortKeyEncoder {
  private mutating func encode(_ text: String, collation: Collation) {
    append(SortKeyLead.text)
    switch collation {
    case .binary:
      for byte in text.utf8 { appendEscaped(byte) }
      append(SortKeyEscape.end)
    case .nocase:
      encodeFolded(text.utf8)
    case .rtrim:
      // RTRIM ignores trailing spaces and no other white space.
      let utf8 = text.utf8
      let end = utf8.lastIndex { $0 != UInt8(ascii: " ") }.map(utf8.index(after:))
      for byte in utf8[..<(end ?? utf8.startIndex)] { appendEscaped(byte) }
      append(SortKeyEscape.end)
    case .custom(let name):
      preconditionFailure("The order of the custom collation \(name) has no byte encoding.")
    }
  }

  /// NOCASE folds the 26 ASCII letters, stops at the first NUL and then compares lengths in bytes.
  private mutating func encodeFolded(_ utf8: String.UTF8View) {
    for byte in utf8 {
      guard byte != 0 else {
        append(SortKeyEscape.mark)
        append(SortKeyEscape.zero)
        append(UInt64(utf8.count), bytes: 8, isNegative: false)
        return
      }
      let isUppercase = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
      appendEscaped(isUppercase ? byte | 0x20 : byte)
    }
    append(SortKeyEscape.end)
  }

  private mutating func appendEscaped(_ byte: UInt8) {
    switch byte {
    case 0:
      append(SortKeyEscape.mark)
      append(SortKeyEscape.zero)
    case 1:
      append(SortKeyEscape.mark)
      append(SortKeyEscape.one)
    default:
      append(byte)
    }
  }

  private mutating func append(_ byte: UInt8) {
    let byte = byte ^ mask
    switch length {
    case 0..<8: first |= UInt64(byte) << UInt64(56 - 8 * length)
    case 8..<16: second |= UInt64(byte) << UInt64(56 - 8 * (length - 8))
    case 16..<Self.inlineCapacity: third |= UInt64(byte) << UInt64(56 - 8 * (length - 16))
    case Self.inlineCapacity:
      let moved = (1...7).map { UInt8(truncatingIfNeeded: third >> UInt64(64 - 8 * $0)) }
      rest = ContiguousArray(moved)
      rest.append(byte)
    default: rest.append(byte)
    }
    length += 1
  }
}

extension Span<UInt8> {
  /// Returns `count` bytes from `place` on as one number, the first one highest.
  fileprivate func word(at place: Int, _ count: Int) -> UInt64 {
    guard count < 8 else {
      return UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self))
    }
    var word: UInt64 = 0
    for index in place..<place + count { word = word << 8 | UInt64(self[index]) }
    return word
  }
}
