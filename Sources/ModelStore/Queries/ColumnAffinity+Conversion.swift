extension ColumnAffinity {
  /// The affinity of a field's column, or nil when the schema does not determine it: ANY means none
  /// in a STRICT table and NUMERIC in any other.
  init?(of field: FieldSchema) {
    switch field.declaredType?.uppercased() {
    case "ANY": return nil
    case let declared?: self.init(declaredType: declared)
    case nil: self = field.type == .any ? .blob : Self(declaredType: field.columnType)
    }
  }

  package var isNumeric: Bool {
    switch self {
    case .numeric, .integer, .real: true
    case .text, .blob: false
    }
  }

  /// Returns `value` as SQLite converts it before comparing it with a column of this affinity.
  /// Returns nil when only SQLite can do that: the conversion between reals and text differs
  /// between its versions.
  func converted(_ value: SQLValue) -> SQLValue? {
    switch (self, value) {
    case (.text, .integer(let number)):
      return .text(String(number))
    case (.text, .real):
      return nil
    case (.numeric, .text(let text)), (.integer, .text(let text)), (.real, .text(let text)):
      guard let number = NumericText(text) else { return value }
      return number.integer.map { .integer($0) }
    default:
      return value
    }
  }
}

/// A text that SQLite reads as a number when numeric affinity is applied.
private struct NumericText {
  /// The number if it is whole, written without point and exponent, and fits; else nil.
  let integer: Int64?

  /// nil for a text that is not a number and so stays text.
  init?(_ text: String) {
    var rest = Array(text.utf8)[...]
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    while let first = rest.first, isSpace(first) { rest.removeFirst() }
    while let last = rest.last, isSpace(last) { rest.removeLast() }
    let number = rest
    func takeDigits() -> Int {
      let count = rest.prefix { (0x30...0x39).contains($0) }.count
      rest = rest.dropFirst(count)
      return count
    }
    func takeSign() {
      if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    }
    takeSign()
    var digitCount = takeDigits()
    let isWhole = rest.isEmpty
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      digitCount += takeDigits()
    }
    guard digitCount > 0 else { return nil }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest.removeFirst()
      takeSign()
      guard takeDigits() > 0 else { return nil }
    }
    guard rest.isEmpty else { return nil }
    integer = isWhole ? Int64(String(decoding: number, as: UTF8.self)) : nil
  }
}
