/// Writes JSON (RFC 8259) as UTF-8, compact and on one line. ``JSONParser`` reads it back exactly.
enum JSONText {
  /// The number that stands for infinity, as in SQL: no real is as great, and most readers of JSON
  /// round it up to that.
  static let infinity = "9e999"

  /// Appends `value` to `output`.
  ///
  /// - Throws: ``OutputError/notANumber`` for a NaN, which JSON cannot say; `output` then ends with
  ///   an unfinished text.
  static func append(_ value: JSONValue, to output: inout [UInt8]) throws(OutputError) {
    switch value {
    case .null: output.append(contentsOf: "null".utf8)
    case .boolean(let truth): output.append(contentsOf: (truth ? "true" : "false").utf8)
    case .integer(let number): append(number, to: &output)
    case .real(let number): try append(number, to: &output)
    case .string(let text): append(text, to: &output)
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        try append(element, to: &output)
      }
      output.append(UInt8(ascii: "]"))
    case .object(let members):
      output.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        append(member.name, to: &output)
        output.append(UInt8(ascii: ":"))
        try append(member.value, to: &output)
      }
      output.append(UInt8(ascii: "}"))
    }
  }

  /// The text of `value`.
  static func text(_ value: JSONValue) throws(OutputError) -> String {
    var output: [UInt8] = []
    try append(value, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  /// Appends a number without a fraction.
  static func append(_ number: Int64, to output: inout [UInt8]) {
    output.append(contentsOf: String(number).utf8)
  }

  /// Appends the shortest decimal that reads back as `number`; it always has a fraction or an
  /// exponent, so that it stays a real. An infinite one is ``infinity``.
  static func append(_ number: Double, to output: inout [UInt8]) throws(OutputError) {
    guard !number.isNaN else { throw .notANumber }
    let text = number.isInfinite ? (number < 0 ? "-" : "") + infinity : number.description
    output.append(contentsOf: text.utf8)
  }

  /// Appends a quoted string. Control characters are escaped, C1 ones and DEL too, so that printing
  /// a record can never steer a terminal.
  static func append(_ text: String, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    if text.utf8.allSatisfy(isPlain) {
      output.append(contentsOf: text.utf8)
    } else {
      appendEscaping(text, to: &output)
    }
    output.append(UInt8(ascii: "\""))
  }

  /// Whether a byte stands for itself whatever follows.
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && byte != 0x7F
      && byte != 0xC2
  }

  private static func appendEscaping(_ text: String, to output: inout [UInt8]) {
    // C1 controls are C2 80 to C2 9F in UTF-8: the lead byte waits for the one that decides.
    var hasLeadByte = false
    for byte in text.utf8 {
      if hasLeadByte {
        hasLeadByte = false
        if byte < 0xA0 {
          appendEscape(byte, to: &output)
        } else {
          output.append(0xC2)
          output.append(byte)
        }
        continue
      }
      switch byte {
      case 0xC2: hasLeadByte = true
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        output.append(UInt8(ascii: "\\"))
        output.append(byte)
      case 0x00..<0x20, 0x7F: appendEscape(byte, to: &output)
      default: output.append(byte)
      }
    }
  }

  private static func appendEscape(_ control: UInt8, to output: inout [UInt8]) {
    switch control {
    case 0x08: output.append(contentsOf: "\\b".utf8)
    case 0x09: output.append(contentsOf: "\\t".utf8)
    case 0x0A: output.append(contentsOf: "\\n".utf8)
    case 0x0C: output.append(contentsOf: "\\f".utf8)
    case 0x0D: output.append(contentsOf: "\\r".utf8)
    default:
      let digits = Array("0123456789abcdef".utf8)
      output.append(contentsOf: "\\u00".utf8)
      output.append(digits[Int(control >> 4)])
      output.append(digits[Int(control & 0xF)])
    }
  }
}
