/// Values and names as SQL that SQLite reads back exactly, in every version and encoding.
package enum SQLLiteral {
  /// Returns an expression for `value`.
  package static func text(of value: CellValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let number): String(number)
    case .real(let number): text(of: number)
    case .text(let text): self.text(of: text)
    case .blob(let bytes): "x'" + bytes.map(hexadecimal).joined() + "'"
    }
  }

  /// Returns `name` as an identifier.
  package static func quoted(name: String) -> String {
    delimited(name, by: "\"")
  }

  /// By scalars: a quote before a combining mark is another character to Swift, but not to SQLite.
  private static func delimited(_ text: String, by quote: Unicode.Scalar) -> String {
    var shown = String.UnicodeScalarView([quote])
    for scalar in text.unicodeScalars {
      if scalar == quote { shown.append(quote) }
      shown.append(scalar)
    }
    shown.append(quote)
    return String(shown)
  }

  /// A literal cannot contain a NUL, and a terminal would act on other controls, so such characters
  /// are calls of `char`.
  private static func text(of text: String) -> String {
    guard text.unicodeScalars.contains(where: isCalled) else { return delimited(text, by: "'") }
    var parts: [String] = []
    var literal = ""
    for scalar in text.unicodeScalars {
      guard isCalled(scalar) else {
        literal.unicodeScalars.append(scalar)
        continue
      }
      if !literal.isEmpty { parts.append(delimited(literal, by: "'")) }
      literal = ""
      parts.append("char(\(scalar.value))")
    }
    if !literal.isEmpty { parts.append(delimited(literal, by: "'")) }
    // The result of `char` alone is a text as well.
    return parts.joined(separator: " || ")
  }

  private static func isCalled(_ scalar: Unicode.Scalar) -> Bool {
    scalar != "\n" && scalar != "\t" && CellText.isInvisible(scalar)
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return byte < 16 ? "0" + digits : digits
  }

  /// Older versions of SQLite round some decimal numbers to a neighbour. So only those are written
  /// in decimal that every version reads exactly: at most 15 digits, and a power of ten that is
  /// exact as a Double. Others are a whole number times or divided by powers of two, which is
  /// exact.
  private static func text(of number: Double) -> String {
    guard number.isFinite else { return number < 0 ? "-9e999" : "9e999" }
    let text = number.description
    guard !isExactInDecimal(text) else { return text }
    let fractionBits = number.significandWidth
    let whole = Int64(
      number.significand * Double(sign: .plus, exponent: fractionBits, significand: 1))
    var exponent = Int(number.exponent) - fractionBits
    var expression = number.sign == .minus ? "-\(whole)" : "\(whole)"
    expression += ".0"
    while exponent != 0 {
      let step = min(abs(exponent), 52)
      expression += exponent < 0 ? " / " : " * "
      expression += "\(Int64(1) << step).0"
      exponent += exponent < 0 ? step : -step
    }
    return "(\(expression))"
  }

  private static func isExactInDecimal(_ text: String) -> Bool {
    let parts = text.split(separator: "e")
    guard let mantissa = parts.first, let exponent = parts.count > 1 ? Int(parts[1]) : 0 else {
      return false
    }
    let halves = mantissa.drop { $0 == "-" }.split(separator: ".")
    let fraction = halves.count > 1 && halves[1] != "0" ? halves[1].count : 0
    let digits = (halves.first.map { $0 == "0" ? 0 : $0.count } ?? 0) + fraction
    return digits <= 15 && abs(exponent - fraction) <= 22
  }
}
