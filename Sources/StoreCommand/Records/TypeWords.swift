import ModelStore
import RecordFormats

/// The type of a field of an adopted table, as `adopt --type` takes it: `account.is_active=bool`,
/// `note.created=date:unix`. Also the text that reports a type.
enum TypeWords {
  /// Reads one word.
  ///
  /// - Parameter tables: The names that may stand before the point; names may hold points too.
  /// - Throws: ``CommandError`` for a word of another shape, an unknown table and an unknown type,
  ///   with near misses.
  static func choice(_ word: String, among tables: [String]) throws(CommandError) -> TypeChoice {
    guard let sign = word.lastIndex(of: "="), let point = word.firstIndex(of: "."), point < sign
    else {
      throw wrong("takes TABLE.FIELD=TYPE; got \(word).")
    }
    let place = word[..<sign]
    let model = tables.filter { place.hasPrefix($0 + ".") }
      .max { $0.utf8.count < $1.utf8.count }
    guard let model else {
      let name = String(word[..<point])
      throw CommandError(
        .notFound, code: "unknownModel",
        "There is no table \(name)"
          + CommandError.meant(NearMiss.suggestions(for: name, among: tables)),
        model: name)
    }
    let (type, form) = try type(String(word[word.index(after: sign)...]))
    return TypeChoice(
      model: model, field: String(place.dropFirst(model.count + 1)), type: type, form: form)
  }

  private static func type(_ text: String) throws(CommandError) -> (FieldType, FieldForm?) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let name = parts[0].lowercased()
    guard let type = otherNames[name] ?? FieldType(rawValue: name) else {
      let names = FieldType.allCases.map(\.rawValue) + otherNames.keys.sorted()
      throw wrong(
        "knows no type \(parts[0])"
          + CommandError.meant(NearMiss.suggestions(for: name, among: names)))
    }
    guard parts.count == 2 else { return (type, nil) }
    guard let form = FieldForm(rawValue: String(parts[1])), form.suits(type) else {
      throw wrong("knows no form \(parts[1]) of the type \(type.rawValue).")
    }
    return (type, form)
  }

  /// What `decimal` means for a column: digits in text where the column holds texts, otherwise
  /// numbers, as `DECIMAL(10,2)` declares them.
  ///
  /// - Parameter field: The field as it is, or as adoption would make it.
  static func resolved(_ choice: TypeChoice, for field: FieldSchema?) -> TypeChoice {
    guard choice.type == .decimal, let field else { return choice }
    let holdsText =
      switch field.affinity {
      case .text: true
      case .blob: field.type != .integer && field.type != .real
      case .integer, .real, .numeric: false
      }
    var resolved = choice
    if !holdsText { resolved.type = .real }
    return resolved
  }

  /// The names of the types in other tools.
  private static let otherNames: [String: FieldType] = [
    "bool": .boolean, "int": .integer, "bigint": .integer, "float": .real, "double": .real,
    "number": .real, "numeric": .real, "money": .real, "string": .text,
    "varchar": .text, "bytes": .blob, "datetime": .date, "timestamp": .date, "guid": .uuid,
  ]

  private static func wrong(_ problem: String) -> CommandError {
    .usage("--type \(problem)", hint: "storecli adopt --help")
  }

  /// A type with its form: `date YYYY-MM-DD`.
  static func text(_ type: FieldType, _ form: FieldForm?) -> String {
    form.map { "\(type.rawValue) \($0.rawValue)" } ?? type.rawValue
  }

  /// A decision for a person, about a field of `model`.
  static func remark(_ decision: TypeDecision, of model: String) -> Console.Remark {
    let declared = decision.declaredType.isEmpty ? "no type" : decision.declaredType
    let count = Grouped.text(decision.valueCount, "value")
    let basis =
      switch (decision.valueCount, decision.misfitCount) {
      case (0, _): "by its declaration; no value was found"
      case (1, 0): "from 1 value"
      case (_, 0): decision.isComplete ? "from all \(count)" : "from \(count); there are more rows"
      case (_, let misfits):
        "because \(Grouped.text(misfits)) of \(count) \(misfits == 1 ? "does" : "do") not fit it"
      }
    return (
      "\(model).\(decision.field) (\(declared))", "\(text(decision.type, decision.form)), \(basis)"
    )
  }

  /// A decision for a program.
  static func json(_ decision: TypeDecision) -> JSONValue {
    .object([
      .init("field", .string(decision.field)), .init("declared", .string(decision.declaredType)),
      .init("type", .string(decision.type.rawValue)),
      .init("form", decision.form.map { .string($0.rawValue) } ?? .null),
      .init("values", .integer(Int64(decision.valueCount))),
      .init("misfits", .integer(Int64(decision.misfitCount))),
      .init("complete", .boolean(decision.isComplete)),
    ])
  }
}
