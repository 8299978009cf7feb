/// The checks that one file can hold the declared models, before any SQL is generated.
///
/// Adopted models were read from the file, so only their names are compared with those of the
/// others.
package struct SchemaValidation {
  /// One sentence for each problem, in the order of the models; empty if there are none.
  package let problems: [String]

  package init(_ models: [ModelSchema]) {
    var problems: [String] = []
    var names: Set<String> = []
    var tables: Set<ExactText> = []
    var ruleNames: Set<String> = []
    var indexNames: Set<String> = []
    for model in models {
      let (isNew, namesake) = names.insert(model.name)
      if !isNew {
        let difference =
          namesake.isExactly(model.name) ? "" : ", in different bytes (Unicode normalisation)"
        problems.append("Two models are called \(model.name)\(difference).")
      }
      if !tables.insert(ExactText(model.table.asciiFolded)).inserted {
        problems.append("\(model.name): another model already uses the table \(model.table).")
      }
      guard !model.isAdopted else { continue }
      problems += Self.nameProblems(in: model)
      if model.kind == .table { problems += Self.tableProblems(in: model) }
      for (_, rule) in model.allRules where !ruleNames.insert(rule.name).inserted {
        problems.append("\(model.name): the rule name \(rule.name) is used twice.")
      }
      for index in model.allIndexes where !indexNames.insert(index.name.asciiFolded).inserted {
        problems.append("\(model.name): the index name \(index.name) is used twice.")
      }
    }
    self.problems = problems
  }

  /// - Throws: ``StoreError`` with code `unsupportedSchema` that lists every problem.
  package func check() throws(StoreError) {
    guard !problems.isEmpty else { return }
    throw StoreError(
      .unsupportedSchema,
      "The declared models cannot be kept. \(problems.joined(separator: " ")) Nothing was changed.")
  }

  /// Returns whether the name is reserved for SQLite or for the store's own tables.
  static func isReserved(_ name: String) -> Bool {
    let folded = name.asciiFolded
    return folded.hasPrefix("sqlite_") || folded.hasPrefix("_ms_")
  }

  private static func nameProblems(in model: ModelSchema) -> [String] {
    var problems: [String] = []
    if !isUsable(model.name) { problems.append("A model has an empty name or a NUL in it.") }
    if !isUsable(model.table) {
      problems.append("\(model.name): the table's name is empty or has a NUL in it.")
    }
    if isReserved(model.table) {
      problems.append(
        "\(model.name): table names must not begin with sqlite_ or _ms_; \(model.table) does.")
    }
    for index in model.indexes where isReserved(index.name) || !isUsable(index.name) {
      problems.append(
        "\(model.name): an index may not be called \(index.name.isEmpty ? "\"\"" : index.name).")
    }
    var fields: Set<String> = []
    var columns: Set<String> = []
    for field in model.fields {
      if !isUsable(field.name) || !isUsable(field.column) {
        problems.append("\(model.name): a field's name is empty or has a NUL in it.")
      }
      if !fields.insert(field.name).inserted {
        problems.append("\(model.name).\(field.name) is declared twice.")
      }
      if !columns.insert(field.column.asciiFolded).inserted {
        problems.append(
          "\(model.name).\(field.name): another field already uses the column \(field.column)."
        )
      }
    }
    return problems
  }

  private static func tableProblems(in model: ModelSchema) -> [String] {
    var problems: [String] = []
    if model.fields.count > columnCountMax {
      problems.append("\(model.name) has more than \(columnCountMax) fields.")
    }
    if model.key.isEmpty { problems.append("\(model.name) has no key.") }
    if Set(model.key).count < model.key.count {
      problems.append("\(model.name): a field is in the key twice.")
    }
    for name in model.key where model.field(named: name)?.isOptional ?? false {
      problems.append("\(model.name).\(name) is in the key, so it must not be optional.")
    }
    for (purpose, names) in [("the key", model.key)] + model.uniques.map({ ("a unique set", $0) })
      + model.indexes.map({ ("the index \($0.name)", $0.fields) })
    {
      if names.isEmpty, purpose != "the key" {
        problems.append("\(model.name): \(purpose) names no field.")
      }
      for name in names where model.field(named: name) == nil {
        problems.append("\(model.name): \(purpose) names \(name), which does not exist.")
      }
    }
    for field in model.fields where field.generated != nil {
      problems.append(
        "\(model.name).\(field.name) is computed by SQLite, which only an adopted table can declare."
      )
    }
    for field in model.fields {
      if let value = field.defaultSQL, let reason = Self.problem(inExpression: value) {
        problems.append("\(model.name).\(field.name): the default \(reason).")
      }
    }
    for (_, rule) in model.allRules {
      if let reason = Self.problem(inExpression: rule.condition) {
        problems.append("\(model.name): the rule \(rule.name) \(reason).")
      }
    }
    return problems
  }

  /// Returns why `text` is not one self-contained SQL expression, or nil when it is.
  private static func problem(inExpression text: String) -> String? {
    do throws(SQLExpression.Problem) {
      _ = try SQLExpression(text)
      return nil
    } catch {
      return error.reason
    }
  }

  /// SQLite's own default limit: <https://sqlite.org/limits.html#max_column>.
  private static let columnCountMax = 2000

  private static func isUsable(_ name: String) -> Bool {
    !name.isEmpty && !name.utf8.contains(0)
  }
}
