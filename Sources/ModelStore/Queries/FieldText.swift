#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The conversion of a field's value to text and back, for input, CSV cells and tables.
///
/// Only the field's type decides how a text is read; nothing is guessed from its appearance. NULL
/// has no text, so callers handle it first.
package enum FieldText {
  /// Returns the value of `text` in `field`.
  ///
  /// | Type | Text |
  /// |---|---|
  /// | integer | a whole number within 64 bits |
  /// | real | a finite decimal number; without point and exponent only if no digit is lost |
  /// | boolean | `true`, `false`, `yes`, `no`, `1`, `0`, in any case |
  /// | text, any | the text as it is; a column of numeric affinity may convert it to a number |
  /// | blob | `x'0aff'` or `base64:Cv8=` |
  /// | date | ISO-8601, UTC unless it names a zone: `2026-09-01`, `2026-09-01T12:30:00.5+02:00` |
  /// | uuid | 36 characters in either case |
  /// | url | a URL in the form that `URL` gives back |
  /// | decimal | plain digits, as many as a `Decimal` keeps; insignificant zeros are dropped |
  /// | json | JSON, kept as written |
  ///
  /// A date or a UUID is converted to the form of the column (``FieldForm``). If that is a number,
  /// the text may also be a number that is a date in the column's own unit.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue`, with the field and the accepted values.
  package static func parse(
    _ text: String, for field: FieldSchema
  ) throws(StoreError) -> SQLValue {
    switch field.type {
    case .integer:
      guard let value = Int64(text) else {
        throw refusal(text, field, "a whole number within 64 bits")
      }
      return .integer(value)
    case .real:
      return try parseReal(text, for: field)
    case .boolean:
      switch text.lowercased() {
      case "true", "yes", "1": return .integer(1)
      case "false", "no", "0": return .integer(0)
      default: throw refusal(text, field, "true or false")
      }
    case .text, .any:
      return .text(text)
    case .blob:
      guard let bytes = hexadecimalBytes(text) ?? base64Bytes(text) else {
        throw refusal(text, field, "bytes, written x'0aff' or base64:Cv8=")
      }
      return .blob(bytes)
    case .date:
      return try parseDate(text, for: field)
    case .uuid:
      guard let upper = upperCaseUUID(text) else { throw refusal(text, field, "a UUID") }
      switch field.form?.kind {
      case .lowercase: return .text(upper.lowercased())
      case .anyCase: return .text(text)
      default: return .text(upper)
      }
    case .url:
      guard let value = URL(string: text), value.absoluteString == text else {
        throw refusal(text, field, "a URL")
      }
      return .text(text)
    case .decimal:
      return .text(try parseDecimal(text, for: field))
    case .json:
      guard JSONSyntax.accepts(text) else { throw refusal(text, field, "JSON") }
      // A numeric column would convert the text to a number.
      guard field.affinity.converting(.text(text)) == .text(text) else {
        throw refusal(text, field, "JSON that is not a bare number")
      }
      return .text(text)
    }
  }

  /// Returns the text that ``parse(_:for:)`` reads as `value` again, for every value of the field's
  /// type. Other values, such as a text in an integer column of a foreign table, are returned as
  /// they are.
  ///
  /// - Returns: The empty text for NULL.
  package static func text(of value: SQLValue, for field: FieldSchema) -> String {
    switch (value, field.type) {
    case (.null, _): ""
    case (.integer(0), .boolean): "false"
    case (.integer(1), .boolean): "true"
    case (.integer(let number), .date): dateText(of: value, in: field) ?? String(number)
    case (.real(let number), .date): dateText(of: value, in: field) ?? String(number)
    case (.integer(let number), _): String(number)
    case (.real(let number), _): String(number)
    case (.text(let text), _): text
    case (.blob, _): value.description
    }
  }

  private static func parseReal(
    _ text: String, for field: FieldSchema
  ) throws(StoreError) -> SQLValue {
    guard let number = number(text) else { throw refusal(text, field, "a number") }
    switch number {
    // A NUMERIC column stores whole numbers as integers, so none of their digits is lost.
    case .integer where [.numeric, .integer].contains(ColumnAffinity(of: field)):
      return number
    case .integer(let whole):
      guard let value = Double(exactly: whole) else { throw inexactRefusal(text, field) }
      return .real(value)
    case .real(let value) where text.utf8.allSatisfy({ !".eE".utf8.contains($0) }):
      let digits = text.drop { !("1"..."9").contains($0) }
      guard wholeDigits(of: value) == digits else { throw inexactRefusal(text, field) }
      return number
    default:
      return number
    }
  }

  private static func inexactRefusal(_ text: String, _ field: FieldSchema) -> StoreError {
    refusal(
      text, field,
      "a number that a 64-bit real holds exactly, or a rounded one with a point or an exponent")
  }

  /// All decimal digits of a number of at least 2^63, without its sign.
  private static func wholeDigits(of number: Double) -> String {
    // From the last to the first, nine digits in each.
    let radix: UInt64 = 1_000_000_000
    var groups: [UInt64] = []
    var significand = number.significandBitPattern | 1 << Double.significandBitCount
    while significand > 0 {
      groups.append(significand % radix)
      significand /= radix
    }
    for _ in Double.significandBitCount..<Int(number.exponent) {
      var carry: UInt64 = 0
      for index in groups.indices {
        let sum = groups[index] * 2 + carry
        groups[index] = sum % radix
        carry = sum / radix
      }
      if carry > 0 { groups.append(carry) }
    }
    let first = groups.last.map { String($0) } ?? ""
    return groups.dropLast().reversed()
      .reduce(into: first) { $0 += String(radix + $1).dropFirst() }
  }

  /// Returns the finite number that `text` writes in decimal. It is an integer if it is whole, has
  /// no point or exponent, and fits 64 bits. Nil for any other text.
  static func number(_ text: String) -> SQLValue? {
    guard hasNumberBytes(text), let value = Double(text), value.isFinite else { return nil }
    return Int64(text).map { .integer($0) } ?? .real(value)
  }

  /// Returns the UUID that `text` writes, in upper case; nil for any other text.
  static func upperCaseUUID(_ text: String) -> String? {
    UUID(uuidString: text)?.uuidString
  }

  private static func parseDecimal(
    _ text: String, for field: FieldSchema
  ) throws(StoreError) -> String {
    let unsigned = text.first == "-" || text.first == "+" ? text.dropFirst() : text[...]
    let parts = unsigned.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isDigit) })
    else { throw refusal(text, field, "a decimal number without exponent") }
    let whole = parts[0].drop { $0 == "0" }
    var fraction = parts.count == 2 ? parts[1] : ""
    while fraction.last == "0" { fraction.removeLast() }
    var plain = whole.isEmpty ? "0" : String(whole)
    if !fraction.isEmpty { plain += ".\(fraction)" }
    if text.first == "-", plain != "0" { plain = "-\(plain)" }
    guard let value = Decimal(string: plain), value.description == plain else {
      throw refusal(text, field, "a decimal number of at most 38 digits")
    }
    return plain
  }

  private static func isDigit(_ character: Character) -> Bool {
    ("0"..."9").contains(character)
  }

  /// Returns whether the text has only digits, signs, points and exponents: not `inf`, not
  /// hexadecimal.
  private static func hasNumberBytes(_ text: String) -> Bool {
    var hasDigit = false
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): hasDigit = true
      case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"),
        UInt8(ascii: "E"):
        continue
      default: return false
      }
    }
    return hasDigit
  }

  /// Returns the bytes of `x'0aff'`, or nil for anything else.
  static func hexadecimalBytes(_ text: String) -> [UInt8]? {
    guard text.hasPrefix("x'") || text.hasPrefix("X'"), text.utf8.count >= 3, text.hasSuffix("'")
    else { return nil }
    let digits = text.dropFirst(2).dropLast().utf8.map {
      Character(Unicode.Scalar($0)).hexDigitValue
    }
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      bytes.append(UInt8(high * 16 + low))
    }
    return bytes
  }

  private static func base64Bytes(_ text: String) -> [UInt8]? {
    guard text.hasPrefix("base64:") else { return nil }
    return Data(base64Encoded: String(text.dropFirst(7))).map { [UInt8]($0) }
  }

  static func refusal(
    _ text: String, _ field: FieldSchema, _ wanted: String
  ) -> StoreError {
    let shown = text.count > 40 ? text.prefix(39) + "…" : text[...]
    return StoreError(
      .invalidValue, "\(field.name) takes \(wanted); got “\(shown)”.", field: field.name)
  }
}

extension FieldSchema {
  /// Returns `value` of this field as the command line prints it. For example, a boolean as `true`.
  public func text(of value: SQLValue) -> String { FieldText.text(of: value, for: self) }
}
