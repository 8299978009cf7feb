/// Statistics of the values of one column: how many there are of each kind. The values themselves
/// are not kept.
struct ColumnValues {
  /// The type and form of the values.
  struct Reading: Hashable {
    var type: FieldType
    var form: FieldForm?
    /// How many of the values fit the column's declaration.
    var fitCount: Int
  }

  private let meaning: DeclaredMeaning
  private var integerCount = 0
  private var realCount = 0
  private var textCount = 0
  private var blobCount = 0
  private var truthCount = 0
  private var jsonCount = 0
  private var uuidCount = 0
  /// A UUID without letters counts as both.
  private var upperUUIDCount = 0
  private var lowerUUIDCount = 0
  private var dates = DateValues()

  init(_ meaning: DeclaredMeaning) {
    self.meaning = meaning
  }

  /// The number of values without NULLs.
  var count: Int { integerCount + realCount + textCount + blobCount }

  /// Counts one cell.
  ///
  /// - Returns: The number of bytes of its text.
  mutating func add(_ row: borrowing RowView, at column: Int) throws(ColumnError) -> Int {
    switch row.storageClass(at: column) {
    case .null: return 0
    case .blob: blobCount += 1
    case .integer:
      let number = try row.integer(at: column)
      integerCount += 1
      if number == 0 || number == 1 { truthCount += 1 }
      if case .date = meaning { dates.add(.integer(number), Double(number)) }
    case .real:
      let number = try row.real(at: column)
      realCount += 1
      if case .date = meaning { dates.add(.real(number), number) }
    case .text:
      textCount += 1
      // Bytes that are not UTF-8 are text of no type.
      guard meaning.needsContents else { return 0 }
      let text: String
      do {
        text = try row.text(at: column)
      } catch {
        return 0
      }
      add(text)
      return text.utf8.count
    }
    return 0
  }

  private mutating func add(_ text: String) {
    switch meaning {
    case .date: dates.add(text)
    case .json: if JSONSyntax.accepts(text) { jsonCount += 1 }
    case .uuid:
      guard let upper = FieldText.upperCaseUUID(text) else { return }
      uuidCount += 1
      if upper == text { upperUUIDCount += 1 }
      if upper.lowercased() == text { lowerUUIDCount += 1 }
    case .boolean, .number, .bytes, .unknown, .none: break
    }
  }

  /// Returns the type that every value fits; the declared type if there is no value.
  ///
  /// - Parameter affinity: The column's affinity.
  func reading(in affinity: ColumnAffinity) -> Reading {
    switch meaning {
    case .boolean: return convention(.boolean, fitting: truthCount)
    case .number: return convention(.real, fitting: integerCount + realCount)
    case .bytes: return convention(.blob, fitting: blobCount)
    case .json: return convention(.json, fitting: jsonCount)
    case .uuid: return convention(.uuid, fitting: uuidCount)
    case .date: return convention(.date, fitting: dates.best?.count ?? 0)
    case .unknown:
      return Reading(type: count == 0 ? .any : commonType, fitCount: count)
    case .none:
      return Reading(type: untypedType, fitCount: count)
    }
  }

  /// The form of the dates or UUIDs. If there are none, the form that keeps texts as written,
  /// because the program that created the table may write any form.
  var form: FieldForm? {
    switch meaning {
    case .date: dates.best?.form ?? .anyDateText
    case .uuid: uuidForm
    default: nil
    }
  }

  private var uuidForm: FieldForm? {
    if uuidCount > 0, lowerUUIDCount == uuidCount { return .lowercase }
    return uuidCount > 0 && upperUUIDCount == uuidCount ? nil : .anyCase
  }

  /// Returns `type` when all values fit it, otherwise the narrowest type that all values fit.
  private func convention(_ type: FieldType, fitting fitCount: Int) -> Reading {
    fitCount == count
      ? Reading(type: type, form: form, fitCount: fitCount)
      : Reading(type: commonType, fitCount: fitCount)
  }

  private var commonType: FieldType {
    if integerCount == count, meaning == .boolean { return .integer }
    if integerCount + realCount == count { return .real }
    return blobCount == count ? .blob : .any
  }

  /// A column without a declared type distinguishes 1 and 1.0, so both together have no common
  /// type.
  private var untypedType: FieldType {
    switch count {
    case 0: .any
    case integerCount: .integer
    case realCount: .real
    case textCount: .text
    case blobCount: .blob
    default: .any
    }
  }
}

/// Statistics of the values of a column of dates.
struct DateValues {
  private var textCount = 0
  private var patterns: Set<DatePattern> = []
  /// Whether a text matches no pattern, or there are too many patterns for one form.
  private var isIrregular = false
  private var fractionEndsInZero = false
  private var fractionIsZero = false
  private var least = Double.infinity
  private var greatest = -Double.infinity
  /// How many numbers can be read back from their ISO-8601 text, by form.
  private var numberCounts: [FieldForm: Int] = [:]
  private static let numberForms: [FieldForm] = [.julianDays, .unixSeconds, .unixMilliseconds]

  mutating func add(_ text: String) {
    guard let moment = DateText.moment(from: text) else { return }
    textCount += 1
    if let pattern = moment.pattern, patterns.count < 16 {
      patterns.insert(pattern)
    } else {
      isIrregular = true
    }
    guard !moment.fraction.isEmpty else { return }
    let digits = moment.shortFraction
    fractionIsZero = fractionIsZero || digits.isEmpty
    fractionEndsInZero = fractionEndsInZero || digits.utf8.count < moment.fraction.utf8.count
  }

  mutating func add(_ value: SQLValue, _ number: Double) {
    least = min(least, number)
    greatest = max(greatest, number)
    for form in Self.numberForms {
      // SQLite gives the declared types of dates NUMERIC affinity.
      let field = FieldSchema(name: "", type: .date, form: form, declaredType: "DATE")
      if FieldText.dateText(of: value, in: field) != nil { numberCounts[form, default: 0] += 1 }
    }
  }

  /// The form of most values, and how many have it.
  var best: (form: FieldForm, count: Int)? {
    let numbers = numberForm.map { ($0, numberCounts[$0] ?? 0) }
    if let numbers, numbers.1 > textCount { return numbers }
    return textCount > 0 ? (textForm, textCount) : nil
  }

  private var textForm: FieldForm {
    let bases = Set(
      patterns.map { pattern in
        var base = pattern
        base.fraction = .none
        return base
      })
    guard !isIrregular, bases.count == 1, var pattern = bases.first else { return .anyDateText }
    let widths = Set(
      patterns.map { pattern in
        if case .digits(let count) = pattern.fraction { count } else { 0 }
      })
    let width = widths.max() ?? 0
    if widths == [width] {
      pattern.fraction = width == 0 ? .none : .digits(width)
    } else if widths == [0, width], !fractionIsZero {
      pattern.fraction = .optionalDigits(width)
    } else if !fractionEndsInZero {
      pattern.fraction = .shortest
    } else {
      return .anyDateText
    }
    return FieldForm(pattern)
  }

  /// The unit of numbers of this size. Julian days of the years 0 to 9999 are too small for the
  /// seconds of a typical date. Days written as 20240131 are neither.
  private var numberForm: FieldForm? {
    let magnitude = max(abs(least), abs(greatest))
    if least >= 1_721_059.5, greatest < 5_373_484.5 { return .julianDays }
    if (1e8..<1e11).contains(magnitude) { return .unixSeconds }
    return (1e11..<1e14).contains(magnitude) ? .unixMilliseconds : nil
  }
}
