/// Writes JSON (RFC 8259) as UTF-8, compact and on one line. ``JSONParser`` reads it back exactly.
package enum JSONText {
  /// The number that represents infinity, as in SQL. No real is as large, and most readers of JSON
  /// round it up to infinity.
  static let infinity = "9e999"

  /// Appends `value` to `output`.
  ///
  /// - Throws: ``OutputError/notANumber`` for a NaN, which JSON cannot express; `output` then ends
  ///   with an unfinished text.
  package static func append(_ value: JSONValue, to output: inout [UInt8]) throws(OutputError) {
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
  package static func text(_ value: JSONValue) throws(OutputError) -> String {
    var output: [UInt8] = []
    try append(value, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  /// Appends a number without a fraction.
  static func append(_ number: Int64, to output: inout [UInt8]) {
    output.append(contentsOf: String(number).utf8)
  }

  /// Appends the shortest decimal that reads back as `number`. It always has a fraction or an
  /// exponent, so it stays a real. An infinite number is written as ``infinity``.
  static func append(_ number: Double, to output: inout [UInt8]) throws(OutputError) {
    guard !number.isNaN else { throw .notANumber }
    let text = number.isInfinite ? (number < 0 ? "-" : "") + infinity : number.description
    output.append(contentsOf: text.utf8)
  }

  /// Appends a quoted string. Control characters, including C1 and DEL, and characters that reorder
  /// others are escaped, so that a printed record can never control a terminal or deceive its
  /// reader.
  static func append(_ text: String, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    if text.utf8.allSatisfy(isPlain) {
      output.append(contentsOf: text.utf8)
    } else {
      for scalar in text.unicodeScalars {
        switch scalar {
        case "\"", "\\":
          output.append(UInt8(ascii: "\\"))
          output.append(contentsOf: scalar.utf8)
        case "\u{08}": output.append(contentsOf: "\\b".utf8)
        case "\t": output.append(contentsOf: "\\t".utf8)
        case "\n": output.append(contentsOf: "\\n".utf8)
        case "\u{0C}": output.append(contentsOf: "\\f".utf8)
        case "\r": output.append(contentsOf: "\\r".utf8)
        default: appendVisibly(scalar, to: &output)
        }
      }
    }
    output.append(UInt8(ascii: "\""))
  }

  /// Appends a text that is JSON already, with the same characters escaped in its strings. JSON
  /// allows such characters only there and in white space.
  static func append(json text: String, to output: inout [UInt8]) {
    guard !text.utf8.allSatisfy(isPlainInJSON) else {
      output.append(contentsOf: text.utf8)
      return
    }
    for scalar in text.unicodeScalars {
      if scalar.value < 0x20 {
        output.append(contentsOf: scalar.utf8)
      } else {
        appendVisibly(scalar, to: &output)
      }
    }
  }

  /// Returns whether a byte of a JSON text is copied as it is, including quotes and escapes.
  private static func isPlainInJSON(_ byte: UInt8) -> Bool {
    isPlain(byte) || byte < 0x7F
  }

  /// Returns whether a byte is copied as it is. Characters that must be escaped begin with other
  /// bytes.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x00..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x7F, 0xC2, 0xD8, 0xE2: false
    default: true
    }
  }

  private static func appendVisibly(_ scalar: Unicode.Scalar, to output: inout [UInt8]) {
    guard CellText.isInvisible(scalar) else {
      output.append(contentsOf: scalar.utf8)
      return
    }
    let digits = Array("0123456789abcdef".utf8)
    output.append(contentsOf: "\\u".utf8)
    for shift in [12, 8, 4, 0] { output.append(digits[Int(scalar.value >> shift & 0xF)]) }
  }
}

extension Unicode.Scalar {
  fileprivate var utf8: Unicode.UTF8.EncodedScalar {
    Unicode.UTF8.encode(self) ?? Unicode.UTF8.encodedReplacementCharacter
  }
}
