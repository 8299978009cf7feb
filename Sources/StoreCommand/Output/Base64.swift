/// The base64 alphabet of RFC 4648 section 4, with padding. Not the URL alphabet.
enum Base64 {
  /// Appends the encoding of `bytes` to `output`.
  static func append(_ bytes: [UInt8], to output: inout [UInt8]) {
    output.reserveCapacity(output.count + (bytes.count + 2) / 3 * 4)
    var index = 0
    while index + 2 < bytes.count {
      append(
        UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]),
        digitCount: 4, to: &output)
      index += 3
    }
    switch bytes.count - index {
    case 1:
      append(UInt32(bytes[index]) << 16, digitCount: 2, to: &output)
      output.append(contentsOf: "==".utf8)
    case 2:
      let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8
      append(group, digitCount: 3, to: &output)
      output.append(UInt8(ascii: "="))
    default: break
    }
  }

  /// The encoding of `bytes`.
  static func encoded(_ bytes: [UInt8]) -> String {
    var output: [UInt8] = []
    append(bytes, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  /// The bytes that `text` encodes; nil when it is not the one canonical encoding of any bytes
  /// (a foreign letter, white space, missing padding, stray bits in the last digit).
  static func decoded(_ text: some StringProtocol) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 4) else { return nil }
    let paddingCount = digits.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    var output: [UInt8] = []
    output.reserveCapacity(digits.count / 4 * 3)
    var group: UInt32 = 0
    var groupCount = 0
    for digit in digits.dropLast(paddingCount) {
      guard let value = value(of: digit) else { return nil }
      group = group << 6 | value
      groupCount += 1
      if groupCount == 4 {
        output.append(UInt8(truncatingIfNeeded: group >> 16))
        output.append(UInt8(truncatingIfNeeded: group >> 8))
        output.append(UInt8(truncatingIfNeeded: group))
        group = 0
        groupCount = 0
      }
    }
    switch groupCount {
    case 2:
      guard group & 0xF == 0 else { return nil }
      output.append(UInt8(truncatingIfNeeded: group >> 4))
    case 3:
      guard group & 0x3 == 0 else { return nil }
      output.append(UInt8(truncatingIfNeeded: group >> 10))
      output.append(UInt8(truncatingIfNeeded: group >> 2))
    default: break
    }
    return output
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  private static func append(_ group: UInt32, digitCount: Int, to output: inout [UInt8]) {
    for place in 0..<digitCount {
      output.append(alphabet[Int(group >> (18 - 6 * UInt32(place)) & 0x3F)])
    }
  }

  private static func value(of digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
