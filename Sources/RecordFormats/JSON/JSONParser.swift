/// Parses one JSON text (RFC 8259) from bytes, strictly.
///
/// Integers are exact or an error; a number with a fraction or an exponent is a real. Refused are
/// duplicate names, lone surrogates, invalid UTF-8, text after the value, and reals beyond the
/// range of a double, except ``JSONText/infinity``. For many records in one input use
/// ``JSONRecordReader``.
package struct JSONParser {
  /// How deeply arrays and objects may lie in each other; bounds the stack.
  static let depthMax = 128

  /// Returns the value of `bytes`, with white space allowed around it.
  ///
  /// Positions in errors count from `position`, where the bytes begin in their input. Errors have
  /// `leavesRestReadable` for the input after the bytes.
  ///
  /// - Throws: ``InputError`` at the first wrong byte.
  static func value(
    of bytes: UnsafeBufferPointer<UInt8>, at position: InputPosition = .start,
    leavesRestReadable: Bool = false
  ) throws(InputError) -> JSONValue {
    var parser = JSONParser(bytes: bytes)
    do {
      return try parser.parse()
    } catch {
      throw InputError(
        error.problem, at: position.advanced(over: bytes[..<error.offset]),
        leavesRestReadable: leavesRestReadable)
    }
  }

  /// Returns the value of `text`.
  package static func value(of text: some Sequence<UInt8>) throws(InputError) -> JSONValue {
    try Array(text).withUnsafeBufferPointer { bytes throws(InputError) in try value(of: bytes) }
  }

  /// An error without its line and column, which are computed only after a failure.
  private struct Failure: Error {
    var problem: InputError.Problem
    var offset: Int
  }

  private let bytes: UnsafeBufferPointer<UInt8>
  private var index = 0
  private var depth = 0

  private init(bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  private mutating func parse() throws(Failure) -> JSONValue {
    let value = try parseValue()
    skipWhiteSpace()
    guard index == bytes.count else { throw malformed("text follows the value") }
    return value
  }

  private mutating func parseValue() throws(Failure) -> JSONValue {
    skipWhiteSpace()
    guard let byte = peek() else { throw malformed("expected a value, found the end") }
    switch byte {
    case UInt8(ascii: "{"): return try nested { parser throws(Failure) in try parser.object() }
    case UInt8(ascii: "["): return try nested { parser throws(Failure) in try parser.array() }
    case UInt8(ascii: "\""): return .string(try parseString())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try parseNumber()
    case UInt8(ascii: "t"): return try parseWord("true", .boolean(true))
    case UInt8(ascii: "f"): return try parseWord("false", .boolean(false))
    case UInt8(ascii: "n"): return try parseWord("null", .null)
    default: throw malformed("expected a value")
    }
  }

  private mutating func nested(
    _ body: (inout JSONParser) throws(Failure) -> JSONValue
  ) throws(Failure) -> JSONValue {
    guard depth < Self.depthMax else {
      throw malformed("arrays and objects are nested more than \(Self.depthMax) deep")
    }
    depth += 1
    index += 1
    let value = try body(&self)
    depth -= 1
    return value
  }

  private mutating func array() throws(Failure) -> JSONValue {
    var elements: [JSONValue] = []
    skipWhiteSpace()
    if skip(UInt8(ascii: "]")) { return .array(elements) }
    while true {
      elements.append(try parseValue())
      skipWhiteSpace()
      if skip(UInt8(ascii: "]")) { return .array(elements) }
      guard skip(UInt8(ascii: ",")) else { throw malformed("expected a comma or ]") }
    }
  }

  private mutating func object() throws(Failure) -> JSONValue {
    var members: [JSONValue.Member] = []
    var names = NameSet()
    skipWhiteSpace()
    if skip(UInt8(ascii: "}")) { return .object(members) }
    while true {
      skipWhiteSpace()
      guard peek() == UInt8(ascii: "\"") else { throw malformed("expected a name in quotes") }
      let nameOffset = index
      let name = try parseString()
      guard names.insert(name, after: members) else {
        let shown = CellText.visible(String(name.prefix(60)))
        throw malformed("the name \"\(shown)\" appears twice in one object", at: nameOffset)
      }
      skipWhiteSpace()
      guard skip(UInt8(ascii: ":")) else { throw malformed("expected a colon") }
      members.append(JSONValue.Member(name, try parseValue()))
      skipWhiteSpace()
      if skip(UInt8(ascii: "}")) { return .object(members) }
      guard skip(UInt8(ascii: ",")) else { throw malformed("expected a comma or }") }
    }
  }

  private mutating func parseWord(
    _ word: StaticString, _ value: JSONValue
  ) throws(Failure) -> JSONValue {
    let isWord = word.withUTF8Buffer { bytes[index...].starts(with: $0) }
    guard isWord else { throw malformed("expected a value") }
    index += word.utf8CodeUnitCount
    return value
  }

  private mutating func parseNumber() throws(Failure) -> JSONValue {
    let start = index
    let isNegative = skip(UInt8(ascii: "-"))
    var magnitude: UInt64 = 0
    var overflows = false
    let firstDigit = index
    while let digit = peekDigit() {
      let (scaled, tooLarge) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, carries) = scaled.addingReportingOverflow(UInt64(digit))
      magnitude = sum
      overflows = overflows || tooLarge || carries
      index += 1
    }
    guard index > firstDigit else { throw malformed("expected a digit") }
    guard bytes[firstDigit] != UInt8(ascii: "0") || index == firstDigit + 1 else {
      throw malformed("a number must not begin with an extra 0", at: start)
    }
    var isReal = false
    if skip(UInt8(ascii: ".")) {
      isReal = true
      try skipDigits()
    }
    if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
      isReal = true
      index += 1
      if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
      try skipDigits()
    }
    if isReal { return try real(start..<index) }
    let limit = UInt64(Int64.max) + (isNegative ? 1 : 0)
    guard !overflows, magnitude <= limit else {
      throw malformed("the integer \(excerpt(start..<index)) does not fit in 64 bits", at: start)
    }
    return .integer(Int64(truncatingIfNeeded: isNegative ? 0 &- magnitude : magnitude))
  }

  private mutating func skipDigits() throws(Failure) {
    guard peekDigit() != nil else { throw malformed("expected a digit") }
    while peekDigit() != nil { index += 1 }
  }

  private func real(_ range: Range<Int>) throws(Failure) -> JSONValue {
    let slice = UnsafeBufferPointer(rebasing: bytes[range])
    let text = String(decoding: slice, as: UTF8.self)
    if let number = Double(text), number.isFinite { return .real(number) }
    switch text {
    case JSONText.infinity: return .real(.infinity)
    case "-" + JSONText.infinity: return .real(-.infinity)
    default:
      throw malformed(
        "the number \(excerpt(range)) is beyond the range of a double", at: range.lowerBound)
    }
  }

  private func excerpt(_ range: Range<Int>) -> String {
    let shown = UnsafeBufferPointer(rebasing: bytes[range.prefix(40)])
    return String(decoding: shown, as: UTF8.self) + (range.count > 40 ? "\u{2026}" : "")
  }

  private func peek() -> UInt8? {
    index < bytes.count ? bytes[index] : nil
  }

  private func peekDigit() -> UInt8? {
    guard let byte = peek(), (0x30...0x39).contains(byte) else { return nil }
    return byte - 0x30
  }

  private mutating func skip(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    index += 1
    return true
  }

  private mutating func skipWhiteSpace() {
    while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      index += 1
    }
  }

  private func malformed(_ detail: String, at offset: Int? = nil) -> Failure {
    Failure(problem: .malformed(detail: detail), offset: offset ?? index)
  }
}

extension JSONParser {
  /// Parses the string whose opening quote is next.
  private mutating func parseString() throws(Failure) -> String {
    let opening = index
    index += 1
    let start = index
    let isASCII = skipPlainBytes()
    if peek() == UInt8(ascii: "\"") {
      if !isASCII { try checkUTF8(start..<index) }
      let slice = UnsafeBufferPointer(rebasing: bytes[start..<index])
      index += 1
      return String(decoding: slice, as: UTF8.self)
    }
    var decoded: [UInt8] = []
    var runStart = start
    while true {
      try checkUTF8(runStart..<index)
      decoded.append(contentsOf: bytes[runStart..<index])
      guard let byte = peek() else { throw malformed("a string is never closed", at: opening) }
      switch byte {
      case UInt8(ascii: "\""):
        index += 1
        return String(decoding: decoded, as: UTF8.self)
      case UInt8(ascii: "\\"): try parseEscape(into: &decoded)
      default: throw malformed("a control character in a string must be escaped")
      }
      runStart = index
      _ = skipPlainBytes()
    }
  }

  /// Skips to a quote, backslash, control character or the end. Returns whether all skipped bytes
  /// are ASCII.
  private mutating func skipPlainBytes() -> Bool {
    var bits: UInt8 = 0
    var place = index
    while place < bytes.count {
      let byte = bytes[place]
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
      bits |= byte
      place += 1
    }
    index = place
    return bits < 0x80
  }

  private func checkUTF8(_ range: Range<Int>) throws(Failure) {
    if let offset = UTF8Validation.firstInvalidIndex(in: bytes, range) {
      throw Failure(problem: .invalidUTF8(byte: bytes[offset]), offset: offset)
    }
  }

  private mutating func parseEscape(into decoded: inout [UInt8]) throws(Failure) {
    let backslash = index
    index += 1
    guard let byte = peek() else { throw malformed("a string is never closed") }
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): decoded.append(byte)
    case UInt8(ascii: "b"): decoded.append(0x08)
    case UInt8(ascii: "f"): decoded.append(0x0C)
    case UInt8(ascii: "n"): decoded.append(0x0A)
    case UInt8(ascii: "r"): decoded.append(0x0D)
    case UInt8(ascii: "t"): decoded.append(0x09)
    case UInt8(ascii: "u"):
      let scalar = try parseScalar(from: backslash)
      decoded.append(contentsOf: String(Character(scalar)).utf8)
    default: throw malformed("a backslash must begin an escape of JSON", at: backslash)
    }
  }

  /// Returns the scalar of a `\u` escape, or of the two that form a surrogate pair.
  private mutating func parseScalar(from backslash: Int) throws(Failure) -> Unicode.Scalar {
    let high = try parseHexadecimal(from: backslash)
    if let scalar = Unicode.Scalar(high) { return scalar }
    guard (0xD800...0xDBFF).contains(high), skip(UInt8(ascii: "\\")), skip(UInt8(ascii: "u")) else {
      throw malformed("half of a surrogate pair is missing", at: backslash)
    }
    let low = try parseHexadecimal(from: backslash)
    guard (0xDC00...0xDFFF).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
    else { throw malformed("half of a surrogate pair is missing", at: backslash) }
    return scalar
  }

  private mutating func parseHexadecimal(from backslash: Int) throws(Failure) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw malformed("\\u needs four hexadecimal digits", at: backslash)
      }
      value = value << 4 | UInt32(digit)
      index += 1
    }
    return value
  }
}

/// The names seen in one object, compared byte for byte. Composed and decomposed letters are two
/// names, which `String`'s own equality would merge.
private struct NameSet {
  /// The number of names up to which comparing with each is faster than hashing.
  private static let comparedCountMax = 16
  private var hashed: Set<[UInt8]> = []

  /// Adds the name that follows `members`. Returns false when one of them already has it.
  mutating func insert(_ name: String, after members: [JSONValue.Member]) -> Bool {
    if members.count < Self.comparedCountMax {
      return !members.contains { $0.name == name && $0.name.utf8.elementsEqual(name.utf8) }
    }
    if hashed.isEmpty { hashed = Set(members.map { Array($0.name.utf8) }) }
    return hashed.insert(Array(name.utf8)).inserted
  }
}
