import ModelStore
import RecordFormats

/// What the values of one column have in common: the type that all of them have, so that storing
/// them changes none. It converts nothing: `00601` is a text and makes its column one.
struct FieldInference {
  /// A type, with the form of dates.
  struct Verdict: Hashable {
    var type: FieldType
    var form: FieldForm?
  }

  let name: String
  private(set) var valueCount = 0
  private(set) var nullCount = 0
  /// The first value, for a person.
  private(set) var example: CellValue?
  /// What all texts so far can be; the first is the most specific.
  private var candidates = Self.textTypes
  /// The kinds of the values of JSON.
  private var kinds: Set<Kind> = []

  private enum Kind: Hashable {
    case text, integer, real, boolean, blob, structure
  }

  /// Numbers with more digits may be identifiers, and other programs round them.
  private static let digitCountMax = 15

  private static let textTypes: [Verdict] =
    [
      Verdict(type: .boolean), Verdict(type: .integer), Verdict(type: .real),
      Verdict(type: .decimal),
    ] + dateTypes

  private static let dateTypes: [Verdict] = {
    var patterns = [DatePattern.day]
    let times: [(Bool, DatePattern.Fraction)] = [
      (false, .none), (true, .none), (true, .digits(3)), (true, .digits(6)), (true, .shortest),
    ]
    for separator: Character in [" ", "T"] {
      for (hasSeconds, fraction) in times {
        for zone in ["", "Z", "+00:00"] {
          patterns.append(
            DatePattern(
              separator: separator, hasSeconds: hasSeconds, fraction: fraction, zone: zone))
        }
      }
    }
    return patterns.map { Verdict(type: .date, form: FieldForm($0)) }
  }()

  init(name: String, nullCount: Int = 0) {
    self.name = name
    self.nullCount = nullCount
  }

  /// Notes that a record has no value.
  mutating func noteNull() { nullCount += 1 }

  /// Notes a cell of CSV or TSV.
  mutating func note(cell text: String, isQuoted: Bool) {
    note(.text(text), .text)
    if isQuoted { candidates = [] } else { narrow(to: text) }
  }

  /// Notes a value of JSON.
  mutating func note(_ value: JSONValue) throws(OutputError) {
    switch value {
    case .null: noteNull()
    case .boolean(let truth): note(.text(truth ? "true" : "false"), .boolean)
    case .integer(let number): note(.integer(number), .integer)
    case .real(let number): note(.real(number), .real)
    case .string(let text):
      note(.text(text), .text)
      if valueCount == 1 { candidates = Self.dateTypes }
      narrow(to: text)
    case .array, .object:
      if let blob = value.storedValue {
        note(CellValue(blob), .blob)
      } else {
        note(.text(try JSONText.text(value)), .structure)
      }
    }
  }

  private mutating func note(_ value: CellValue, _ kind: Kind) {
    valueCount += 1
    kinds.insert(kind)
    if example == nil { example = value }
  }

  private mutating func narrow(to text: String) {
    guard !candidates.isEmpty else { return }
    candidates.removeAll { !Self.fits(text, $0) }
  }

  private static func fits(_ text: String, _ type: Verdict) -> Bool {
    switch type.type {
    case .boolean: return ["true", "false"].contains(text)
    case .integer: return Int64(text)?.description == text && digitCount(text) <= digitCountMax
    case .real: return Double(text)?.description == text && digitCount(text) <= digitCountMax
    case .decimal: return isDecimal(text) && digitCount(text) <= digitCountMax
    default:
      return FieldText.fits(
        .text(text), FieldSchema(name: "", type: type.type, form: type.form, declaredType: "TEXT"))
    }
  }

  /// Whether a decimal keeps the text, except for zeros at the end of its fraction.
  private static func isDecimal(_ text: String) -> Bool {
    let isNegative = text.first == "-"
    let parts = (isNegative ? text.dropFirst() : text[...])
      .split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts[0] == "0" || parts[0].first != "0",
      parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
    else { return false }
    return !isNegative || text.contains { ("1"..."9").contains($0) }
  }

  private static func digitCount(_ text: String) -> Int {
    text.utf8.count { (0x30...0x39).contains($0) }
  }

  /// The type of the column.
  var verdict: Verdict {
    switch kinds {
    case [.text]: candidates.first ?? Verdict(type: .text)
    case [.integer]: Verdict(type: .integer)
    case [.real], [.integer, .real]: Verdict(type: .real)
    case [.boolean]: Verdict(type: .boolean)
    case [.blob]: Verdict(type: .blob)
    case [.structure]: Verdict(type: .json)
    case []: Verdict(type: .text)
    default: Verdict(type: .any)
    }
  }
}
