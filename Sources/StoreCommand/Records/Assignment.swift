import ModelStore

/// One word of `insert` or `update` that gives a field a value: `name=Miles`, `note:null`,
/// `plays+=1`, `cover=@file`, `note=-`, `note:=@literal`.
struct Assignment: Sendable {
  /// How the field changes.
  enum Change: Hashable, Sendable {
    case value(SQLValue)
    /// Added to the stored value.
    case increment(SQLValue)
  }

  let field: FieldSchema
  let change: Change

  /// Reads the words of one command line.
  ///
  /// - Throws: ``CommandError`` for a word that assigns nothing, an unknown field, a field named
  ///   twice and a computed one; ``StoreError`` with code `invalidValue` for a value that does not
  ///   fit.
  static func parse(
    _ words: [String], for schema: ModelSchema, reading inputs: InputFiles
  ) throws -> [Assignment] {
    var assignments: [Assignment] = []
    var readsInput = false
    for word in words {
      let (name, spelling) = try split(word, for: schema)
      let field = try schema.requiredField(named: name)
      guard !(spelling.readsInput && readsInput) else {
        throw CommandError.usage(
          "\(name)=- cannot read standard input again: another field has read it.",
          model: schema.name, field: name)
      }
      readsInput = readsInput || spelling.readsInput
      guard field.generated == nil else {
        throw CommandError.usage(
          "\(schema.name).\(name) is computed by the database and cannot be set.",
          model: schema.name, field: name)
      }
      guard !assignments.contains(where: { $0.field.name == name }) else {
        throw CommandError.usage("\(name) is given twice.", model: schema.name, field: name)
      }
      do {
        assignments.append(
          Assignment(field: field, change: try spelling.change(of: field, reading: inputs)))
      } catch var error as StoreError {
        error.model = schema.name
        guard case .value(let text) = spelling, text.lowercased() == "null" else { throw error }
        var failure = CommandError(error)
        failure.hint = "\(name):null sets null"
        throw failure
      } catch var error as CommandError {
        // The text was meant, not a file of that name.
        guard case .value(let text) = spelling, text.hasPrefix("@"), error.exitCode == .notFound
        else { throw error }
        error.hint = "\(Shell.quoted("\(name):=\(text)")) takes the text literally"
        throw error
      }
    }
    return assignments
  }

  private enum Spelling {
    case null
    case increment(String)
    case literal(String)
    case value(String)

    /// Whether it reads standard input, which can be read once.
    var readsInput: Bool {
      if case .value("-") = self { true } else { false }
    }

    func change(of field: FieldSchema, reading inputs: InputFiles) throws -> Change {
      switch self {
      case .null: return .value(.null)
      case .increment(let text):
        guard field.type == .integer || field.type == .real || field.type == .any else {
          throw StoreError(
            .invalidValue,
            "\(field.name) is of type \(TypeWords.text(field.type, field.form)); "
              + "+= adds to numbers only.", field: field.name)
        }
        return .increment(try FieldText.parse(text, for: field.asNumber))
      case .literal(let text): return .value(try FieldText.parse(text, for: field))
      case .value("-"): return .value(try Self.contents(of: "-", for: field, inputs))
      case .value(let text) where text.hasPrefix("@"):
        return .value(try Self.contents(of: String(text.dropFirst()), for: field, inputs))
      case .value("") where field.type != .text && (field.type != .any || field.takesBytes):
        throw StoreError(
          .invalidValue,
          "\(field.name) \(field.emptyRefusal) and cannot be empty; \(field.name):null clears it.",
          field: field.name)
      case .value(let text): return .value(try field.parse(text))
      }
    }

    private static func contents(
      of path: String, for field: FieldSchema, _ inputs: InputFiles
    ) throws -> SQLValue {
      let bytes = try inputs.contents(of: path)
      if field.takesBytes { return .blob(bytes) }
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw StoreError(
          .invalidValue, "\(field.name) takes text; \(path) is not UTF-8.", field: field.name)
      }
      if field.type == .text || field.type == .any { return .text(text) }
      return try FieldText.parse(text.last == "\n" ? String(text.dropLast()) : text, for: field)
    }
  }

  /// Splits a word at its operator. A whole field name comes first, since names may contain any
  /// character.
  private static func split(
    _ word: String, for schema: ModelSchema
  ) throws -> (name: String, spelling: Spelling) {
    let names = schema.fields.map(\.name).sorted { $0.utf8.count > $1.utf8.count }
    for name in names where word.hasPrefix(name) {
      if let spelling = spelling(word.dropFirst(name.count)) { return (name, spelling) }
    }
    for name in names where word.hasPrefix(name + "-=") {
      let number = word.dropFirst(name.count + 2)
      throw CommandError.usage(
        "There is no -= for \(name); add a negative number.",
        hint: "write \(Shell.quoted("\(name)+=-\(number)"))", model: schema.name, field: name)
    }
    for index in word.indices {
      if let spelling = spelling(word[index...]) { return (String(word[..<index]), spelling) }
    }
    throw CommandError.usage(
      "\(word) is not an assignment; write FIELD=VALUE or FIELD:null.",
      hint: "storecli models \(Shell.quoted(schema.name))", model: schema.name)
  }

  private static func spelling(_ rest: Substring) -> Spelling? {
    if rest == ":null" { return .null }
    if rest.hasPrefix("+=") { return .increment(String(rest.dropFirst(2))) }
    if rest.hasPrefix(":=") { return .literal(String(rest.dropFirst(2))) }
    return rest.hasPrefix("=") ? .value(String(rest.dropFirst())) : nil
  }
}

extension FieldSchema {
  /// Why it takes no empty text: its type, or for `any`, that its column holds bytes.
  fileprivate var emptyRefusal: String {
    type == .any && takesBytes ? "takes bytes" : "is of type \(TypeWords.text(type, form))"
  }

  /// The field as one whose texts are numbers: a column of any type may hold some, and takes whole
  /// ones as integers.
  fileprivate var asNumber: FieldSchema {
    type == .any ? FieldSchema(name: name, type: .real, declaredType: "NUMERIC") : self
  }
}

extension [Assignment] {
  /// Whether every new value is known without reading the record.
  var isAbsolute: Bool {
    allSatisfy { assignment in
      if case .value = assignment.change { true } else { false }
    }
  }

  /// The new values by field, with increments computed from `record`; without a record, no
  /// increments.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue` for an increment of a value that is not a
  ///   number, and for a sum outside 64 bits or the range of a real.
  func values(from record: DynamicRecord?, of schema: ModelSchema) throws -> [String: SQLValue] {
    var values: [String: SQLValue] = [:]
    for assignment in self {
      let name = assignment.field.name
      switch assignment.change {
      case .value(let value): values[name] = value
      case .increment(let step):
        guard let record else {
          throw StoreError(
            .invalidValue,
            "\(schema.name).\(name): += adds to a stored value, and a new record has none. Use =.",
            model: schema.name, field: name)
        }
        guard let sum = Self.sum(record[name] ?? .null, step) else {
          throw StoreError(
            .invalidValue,
            "\(schema.name).\(name) is not a number, or the sum is out of range.",
            model: schema.name, field: name, key: record.key)
        }
        values[name] = sum
      }
    }
    return values
  }

  private static func sum(_ value: SQLValue, _ step: SQLValue) -> SQLValue? {
    switch (value, step) {
    case (.integer(let value), .integer(let step)):
      let (sum, overflows) = value.addingReportingOverflow(step)
      return overflows ? nil : .integer(sum)
    case (.real(let value), .real(let step)): return real(value + step)
    case (.real(let value), .integer(let step)): return real(value + Double(step))
    case (.integer(let value), .real(let step)): return real(Double(value) + step)
    default: return nil
    }
  }

  private static func real(_ sum: Double) -> SQLValue? {
    sum.isFinite ? .real(sum) : nil
  }
}
