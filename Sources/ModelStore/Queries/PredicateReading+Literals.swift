extension PredicateReading {
  /// Returns the comparison of two operands. A literal is read by the type of the field it is
  /// compared with.
  func compare(
    _ left: Operand, _ comparison: Condition.Comparison, _ right: Operand
  ) throws(PredicateTextError) -> Condition {
    switch (left, right) {
    case (.literal(let literal), let other) where literal.isNull:
      return try nullTest(other, comparison, at: literal.source)
    case (let other, .literal(let literal)) where literal.isNull:
      return try nullTest(other, comparison, at: literal.source)
    case (.field(let index, _), _):
      return .comparison(.field(index), comparison, try converted(right, beside: index, comparison))
    case (.literal, .field(let index, _)):
      return .comparison(try converted(left, beside: index, comparison), comparison, .field(index))
    case (.literal(let left), .literal(let right)):
      return .comparison(
        .value(try value(of: left)), comparison, .value(try value(of: right)))
    }
  }

  private func nullTest(
    _ operand: Operand, _ comparison: Condition.Comparison, at null: Substring
  ) throws(PredicateTextError) -> Condition {
    let tested: Condition.Operand =
      switch operand {
      case .field(let index, _): .field(index)
      case .literal(let literal): .value(try value(of: literal))
      }
    switch comparison {
    case .equal, .isIdentical: return .isNull(tested)
    case .notEqual, .isDistinct: return .isNotNull(tested)
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      throw error(.value, "null is neither less nor greater than anything.", at: null)
    }
  }

  /// Returns `operand`, converted for a comparison with the field at `index`.
  func converted(
    _ operand: Operand, beside index: Int, _ comparison: Condition.Comparison
  ) throws(PredicateTextError) -> Condition.Operand {
    let field = schema.fields[index]
    if comparison.needsOrder, field.type == .decimal {
      throw error(
        .value,
        "\(field.name) is a decimal, which is stored as text and cannot be compared by size.",
        at: operand.source)
    }
    switch operand {
    case .field(let other, let source):
      let otherField = schema.fields[other]
      guard field.isComparable(with: otherField) else {
        throw error(
          .value,
          "\(field.name) (\(field.type.rawValue)) and \(otherField.name) "
            + "(\(otherField.type.rawValue)) cannot be compared.",
          at: source)
      }
      return .field(other)
    case .literal(let literal):
      if literal.isNull {
        throw error(.value, "null is neither less nor greater than anything.", at: literal.source)
      }
      return .value(try value(of: literal, for: index))
    }
  }

  /// Returns the value of a literal that is compared with the field at `index`.
  func value(of literal: Literal, for index: Int) throws(PredicateTextError) -> SQLValue {
    let field = schema.fields[index]
    switch (literal.content, field.type) {
    case (.text(let text), _):
      do {
        return try FieldText.parse(text, for: field)
      } catch {
        throw self.error(.value, error.message, at: literal.source)
      }
    case (.keyword(.today), _) where field.takesMoments,
      (.keyword(.now), _) where field.takesMoments:
      return try moment(literal, for: field)
    case (.number, .integer), (.number, .any), (.blob, .blob), (.blob, .any),
      (.keyword(.true), .any), (.keyword(.false), .any):
      return try value(of: literal)
    case (.number, .date) where field.form?.isText == false:
      return try value(of: literal)
    case (.number, .real):
      if literal.isWhole, Int64(literal.numeral) == nil, let large = Double(literal.numeral),
        large.isFinite
      {
        return .real(large)
      }
      // A whole number that no Double can represent stays an integer, which SQLite compares
      // exactly.
      let number = try value(of: literal)
      if case .integer(let whole) = number, let exact = Double(exactly: whole) {
        return .real(exact)
      }
      return number
    case (_, .boolean) where literal.meansOne:
      return .integer(1)
    case (_, .boolean) where literal.meansZero:
      return .integer(0)
    case (.number, .decimal):
      do {
        return try FieldText.parse(literal.numeral, for: field)
      } catch {
        throw self.error(.value, error.message, at: literal.source)
      }
    default:
      throw error(
        .value, "\(field.name) takes \(field.type.exampleLiteral); got \(literal.source).",
        at: literal.source)
    }
  }

  /// Returns the value of a literal that is not compared with a field.
  private func value(of literal: Literal) throws(PredicateTextError) -> SQLValue {
    switch literal.content {
    case .keyword(.null):
      return .null
    case .keyword(.true):
      return .integer(1)
    case .keyword(.false):
      return .integer(0)
    case .text(let text):
      return .text(text)
    case .blob:
      guard let bytes = FieldText.hexadecimalBytes(String(literal.source)) else {
        throw error(
          .value, "\(literal.source) needs pairs of hexadecimal digits.", at: literal.source)
      }
      return .blob(bytes)
    case .number:
      if literal.isWhole {
        guard let whole = Int64(literal.numeral) else {
          throw error(.value, "\(literal.source) does not fit 64 bits.", at: literal.source)
        }
        return .integer(whole)
      }
      // SQLite spells infinity so, too: https://sqlite.org/floatingpoint.html.
      guard let number = Double(literal.numeral),
        number.isFinite || ["9e999", "+9e999", "-9e999"].contains(literal.numeral.lowercased())
      else {
        throw error(.value, "\(literal.source) is too large for a number.", at: literal.source)
      }
      return .real(number)
    default:
      throw error(
        .value, "\(literal.source) must be compared with a date field.", at: literal.source)
    }
  }

  /// Returns `today` or `now` in the form of the field's column. For a text it is what SQLite's
  /// `date()` and `datetime()` return.
  private func moment(
    _ literal: Literal, for field: FieldSchema
  ) throws(PredicateTextError) -> SQLValue {
    let isDay = literal.content == .keyword(.today)
    let seconds = isDay ? (now / 86_400).rounded(.down) * 86_400 : now
    if field.type == .date {
      guard let form = field.form else { return .real(seconds) }
      if form != .anyDateText, let value = FieldText.date(at: seconds, form: form) { return value }
    }
    // A column of days can still be compared with a time of day.
    guard let full = DateText.text(of: now.rounded(.down)) else {
      throw error(.value, "The current time is out of range.", at: literal.source)
    }
    let parts = full.dropLast().split(separator: "T")
    return .text(isDay ? String(parts[0]) : parts.joined(separator: " "))
  }
}

extension PredicateReading.Literal {
  /// Whether a number is written without a fraction and an exponent.
  fileprivate var isWhole: Bool { numeral.utf8.allSatisfy { !".eE".utf8.contains($0) } }

  fileprivate var meansOne: Bool {
    content == .keyword(.true) || content == .number && numeral == "1"
  }
  fileprivate var meansZero: Bool {
    content == .keyword(.false) || content == .number && numeral == "0"
  }
}

extension FieldSchema {
  /// Whether `today` and `now` are allowed: for a date, a text, and a column that another design
  /// declared as DATE, DATETIME or TIMESTAMP, to which SQLite's own functions write text.
  fileprivate var takesMoments: Bool {
    switch type {
    case .date, .text: return true
    case .any:
      let declared = declaredType?.uppercased() ?? ""
      return declared.contains("DATE") || declared.contains("TIMESTAMP")
    default: return false
    }
  }
}

extension FieldType {
  /// A literal of the type, for messages.
  fileprivate var exampleLiteral: String {
    switch self {
    case .integer: "a number"
    case .real: "a number"
    case .boolean: "true or false"
    case .text, .url, .json: "text between single quotes"
    case .uuid: "a UUID between single quotes"
    case .decimal: "a decimal number"
    case .date: "a date such as '2026-09-01', today or now"
    case .blob: "bytes such as x'0aff'"
    case .any: "a literal"
    }
  }

  /// Returns whether values of the two types compare as a person would expect.
  fileprivate func isComparable(with other: FieldType) -> Bool {
    switch (self, other) {
    case (.any, _), (_, .any): true
    case (.integer, .real), (.real, .integer), (.integer, .boolean), (.boolean, .integer): true
    case (.boolean, .real), (.real, .boolean): true
    case (.text, .uuid), (.uuid, .text), (.text, .url), (.url, .text): true
    default: self == other
    }
  }
}

extension FieldSchema {
  /// Returns whether values of the two fields compare as a person would expect.
  fileprivate func isComparable(with other: FieldSchema) -> Bool {
    guard form != other.form, type != .any, other.type != .any else {
      return type.isComparable(with: other.type)
    }
    // A date in another form is the text or the number in its column.
    let plain = [self, other].map { field -> FieldType in
      guard let form = field.form else { return field.type }
      return form.isText ? .text : .real
    }
    let bothDates = type == .date && other.type == .date
    return plain[0].isComparable(with: plain[1])
      && (!bothDates || form?.isText == true && other.form?.isText == true)
  }
}
