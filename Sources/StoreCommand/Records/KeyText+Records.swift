import ModelStore
import RecordFormats

// Keys in columns without a type, where `1` is shown for a number and for a text.
extension KeyText {
  /// The key that `text` means, given the records of `opened`.
  ///
  /// A column without a type can hold the number 1 and the text '1' as two keys. `1` then means
  /// the record that exists, or the text if neither does.
  ///
  /// - Throws: As ``parse(_:for:)``; ``CommandError`` if several records exist, with how to choose
  ///   one of them.
  static func key(
    _ text: String, for schema: ModelSchema, in opened: OpenedStore
  ) throws -> [SQLValue] {
    try key(text, for: schema) { meanings in
      // A column of numbers compares both alike.
      try opened.read { reads in
        try meanings.compactMap { try reads.find(schema, key: $0)?.key }
      }
    }
  }

  /// As ``key(_:for:in:)``, where `present` returns the existing keys among all possible keys.
  static func key(
    _ text: String, for schema: ModelSchema,
    present: (_ meanings: [[SQLValue]]) throws -> [[SQLValue]]
  ) throws -> [SQLValue] {
    let key = try parse(text, for: schema)
    let meanings = meanings(of: key, schema)
    guard meanings.count > 1 else { return key }
    var found: [[SQLValue]] = []
    for key in try present(meanings) where !found.contains(key) { found.append(key) }
    guard found.count < 2 else { throw ambiguous(text, schema, found) }
    return found.first ?? key
  }

  /// Every key that is shown like `key`. Only `key` itself if too many columns have no type, since
  /// looking up all combinations would take too long.
  private static func meanings(of key: [SQLValue], _ schema: ModelSchema) -> [[SQLValue]] {
    guard schema.keyIndices.count(where: { schema.fields[$0].type == .any }) <= 6 else {
      return [key]
    }
    return zip(key, schema.keyIndices).reduce([[]]) { beginnings, part in
      let (value, index) = part
      var values = [value]
      if schema.fields[index].type == .any, case .text(let text) = value,
        let number = number(shownAs: text)
      {
        values.append(number)
      }
      return beginnings.flatMap { beginning in values.map { beginning + [$0] } }
    }
  }

  private static func number(shownAs text: String) -> SQLValue? {
    if let number = Int64(text), String(number) == text { return .integer(number) }
    if let number = Double(text), number.description == text { return .real(number) }
    return nil
  }

  private static func ambiguous(
    _ text: String, _ schema: ModelSchema, _ keys: [[SQLValue]]
  ) -> CommandError {
    let conditions = keys.map { key in
      zip(schema.key, key).map { name, value in
        if case .text(let text) = value {
          return "\(name) == '\(text.replacing("'", with: "''"))'"
        }
        return "\(name) == \(CellText.exchange(CellValue(value)) ?? "null")"
      }.joined(separator: " and ")
    }
    return CommandError.usage(
      "\(text) matches \(keys.count) records of \(schema.name), whose keys are a number and a text: "
        + conditions.joined(separator: ", or ") + ".",
      hint: "choose one with a predicate: --where of update and delete, or storecli query",
      model: schema.name)
  }
}
