/// A translation of SQLite's constraint errors into violations that name the rule and the fields.
///
/// SQLite identifies the constraint only in its message, and names in that message are neither
/// quoted nor escaped. So the message is compared with the models' names. It is never split at dots
/// or commas, because names may contain them.
struct ConstraintTranslation {
  /// What the caller knows about the failed statement.
  struct Context {
    /// The model that the statement writes, or nil for raw SQL.
    var model: String?
    /// The key of the record that it writes, if it writes exactly one.
    var key: [SQLValue]?
    /// The trigger that was running, if the caller tracks triggers.
    var trigger: String?
  }

  private let models: [ModelSchema]
  private let rules: [Rule]
  private let raisers: [RaisingTrigger]

  /// - Parameters:
  ///   - rules: The rules added to models.
  ///   - raisers: The triggers that may raise an error and are not the store's own.
  init(models: [ModelSchema], rules: [Rule] = [], raisers: [RaisingTrigger] = []) {
    self.models = models
    self.rules = rules
    self.raisers = raisers
  }

  /// Returns the error to throw. For a broken constraint it has the code `rejected` and one
  /// violation; any other failure becomes the ``StoreError`` for that SQLite error.
  ///
  /// The violation's model is empty if neither SQLite nor the context identifies it.
  func storeError(for error: SQLiteError, in context: Context = Context()) -> StoreError {
    guard let finding = finding(for: error, in: context) else { return StoreError(error) }
    let violation = Violation(
      kind: finding.kind, model: finding.model ?? "",
      // A trigger or cascade of the statement may have failed on a record of another model.
      key: finding.model == context.model ? context.key : nil,
      fields: finding.fields, rule: finding.rule, message: finding.message,
      remedy: finding.remedy)
    return StoreError(
      .rejected, finding.sentence, model: finding.model,
      field: finding.fields.count == 1 ? finding.fields[0] : nil, key: violation.key,
      violations: [violation], sqliteCode: error.code.rawValue)
  }

  /// See <https://sqlite.org/rescode.html#extended_result_code_list>.
  private func finding(for error: SQLiteError, in context: Context) -> Finding? {
    let own = models.filter { $0.name == context.model }
    let reader = MessageReader(
      models: own + models.filter { $0.name != context.model }, rules: rules)
    switch error.code {
    case .constraintCheck:
      guard let name = error.message.rest(after: "CHECK constraint failed: ") else { return nil }
      return reader.check(name)
        ?? Finding(
          kind: .check, model: context.model, rule: name, message: "must meet the rule \(name)",
          remedy: "Change the record.")
    case .constraintUnique, .constraintPrimaryKey, .constraintRowID:
      guard let columns = error.message.rest(after: "UNIQUE constraint failed: ")
      else { return nil }
      return reader.unique(columns)
        ?? Finding(
          kind: .unique, model: context.model, rule: columns,
          message: "must be unique in \(columns)", remedy: "Choose another value.")
    case .constraintNotNull:
      guard let column = error.message.rest(after: "NOT NULL constraint failed: ")
      else { return nil }
      return reader.required(column)
        ?? Finding(
          kind: .required, model: context.model, rule: column,
          message: "must have a value in \(column)", remedy: "Give it one.")
    case .constraintForeignKey: return reader.reference(of: context.model)
    case .constraintTrigger:
      return reader.rule(error.message) ?? reader.binding(error.message)
        ?? trigger(saying: error.message, in: context)
    case .constraintDataType: return reader.type(error.message)
    case .mismatch: return context.model == nil ? nil : reader.rowIDType()
    default: return nil
    }
  }
}

extension ConstraintTranslation {
  /// SQLite reports the trigger's message, not its name.
  private func trigger(saying message: String, in context: Context) -> Finding {
    let saying = raisers.filter { $0.says(message) }
    let only = saying.count == 1 ? saying[0] : nil
    let model = only.flatMap { trigger in
      models.first { $0.table.asciiFolded == trigger.table.asciiFolded }?.name
    }
    return Finding(
      kind: .trigger, model: model ?? context.model,
      rule: context.trigger ?? only?.name ?? "trigger",
      message: message, remedy: nil)
  }
}

/// The parts of a violation, and the sentence that describes it.
private struct Finding {
  var kind: Violation.Kind
  var model: String?
  var fields: [String] = []
  var rule: String
  /// The requirement, worded to follow the field's name: "must be unique".
  var message: String
  /// A sentence, or nil when only the application can know a remedy.
  var remedy: String?

  var sentence: String {
    let subject =
      switch (model, fields.count) {
      case (let model?, 1): "\(model).\(fields[0])"
      case (let model?, 2...): "\(model) (\(fields.joined(separator: ", ")))"
      case (let model?, _): "The \(model) record"
      case (nil, _): "The record"
      }
    if kind == .trigger { return "A trigger refused the change: \(message)" }
    return "\(subject) \(message)." + (remedy.map { " \($0)" } ?? "")
  }
}

extension Finding {
  fileprivate init(_ violation: Violation) {
    self.init(
      kind: violation.kind, model: violation.model, fields: violation.fields,
      rule: violation.rule, message: violation.message, remedy: violation.remedy)
  }
}

/// A lookup of the model parts that a SQLite message refers to.
private struct MessageReader {
  /// The statement's own model first, because several models may use the same name.
  let models: [ModelSchema]
  let rules: [Rule]

  /// An added rule. ``RuleObjects`` defines its message.
  func rule(_ message: String) -> Finding? {
    for rule in rules {
      if message.isExactly(rule.refusal) { return Finding(rule.violation) }
      if message.isExactly(rule.refusalOfReferenced), let violation = rule.violationOfReferenced {
        return Finding(violation)
      }
    }
    return nil
  }

  // SQLite names a CHECK by its constraint name or else by its expression. If the expression begins
  // with a quoted name, SQLite unquotes that name and drops the rest.
  func check(_ name: String) -> Finding? {
    for model in models {
      for field in model.fields {
        if let rule = field.rules.first(where: { $0.name == name }) {
          return finding(of: rule, in: model, fields: [field.name])
        }
        if field.type == .boolean, name == "\(model.name).\(field.name).boolean" {
          return Finding(
            kind: .check, model: model.name, fields: [field.name], rule: name,
            message: "must be true or false", remedy: "Give it 1 or 0.")
        }
      }
      if let rule = model.rules.first(where: { $0.name == name }) {
        return finding(of: rule, in: model, fields: columnsNamed(in: rule, of: model))
      }
    }
    let expression = SQLTokens(name).normalized
    for model in models {
      let unnamed = (model.fields.flatMap(\.rules) + model.rules).filter { rule in
        SQLTokens(rule.condition).normalized == expression
          || rule.condition.leadingQuotedName == name
      }
      guard let rule = unnamed.first else { continue }
      if unnamed.count == 1 {
        let owner = model.fields.first { $0.rules.contains(rule) }
        return finding(
          of: rule, in: model, fields: owner.map { [$0.name] } ?? columnsNamed(in: rule, of: model))
      }
      return Finding(
        kind: .check, model: model.name,
        fields: model.fields.filter { $0.column == name }.map(\.name), rule: name,
        message: "must meet all of these rules: \(unnamed.map(\.message).joined(separator: "; "))",
        remedy: "Change the value.")
    }
    return nil
  }

  private func finding(of rule: RuleSchema, in model: ModelSchema, fields: [String]) -> Finding {
    Finding(
      kind: .check, model: model.name, fields: fields, rule: rule.name, message: rule.message,
      remedy: "Change the value.")
  }

  private func columnsNamed(in rule: RuleSchema, of model: ModelSchema) -> [String] {
    let names: Set<String>
    do {
      names = Set(try SQLExpression(rule.condition).plainNames)
    } catch {
      // An adopted CHECK may contain a comment. The rule is then reported for the whole record.
      return []
    }
    return model.fields.filter { names.contains($0.column.asciiFolded) }.map(\.name)
  }

  func unique(_ columns: String) -> Finding? {
    if let name = columns.rest(after: "index '"), name.hasSuffix("'") {
      let index = String(name.dropLast())
      for model in models {
        guard let found = model.indexes.first(where: { $0.name == index }) else { continue }
        return duplicate(in: model, fields: found.fields, rule: index)
      }
      return nil
    }
    for model in models {
      guard let fields = fields(in: columns[...], of: model) else { continue }
      let rules = unique(fields, in: model)
      if var violation = rules.first?.violation {
        // SQLite reports only the columns, and several rules may use the same columns.
        violation.rule = rules.map(\.name).joined(separator: ", ")
        violation.message = rules.map(\.message).joined(separator: " or ")
        return Finding(violation)
      }
      let isKey = Set(fields) == Set(model.key)
      let rule = isKey ? "key" : "\(fields.joined(separator: ",")).unique"
      return duplicate(in: model, fields: fields, rule: "\(model.name).\(rule)")
    }
    return nil
  }

  /// Returns the added rules that demand uniqueness, unless the table's own definition does.
  private func unique(_ fields: [String], in model: ModelSchema) -> [Rule] {
    let own =
      [model.key] + model.uniques + model.indexes.filter(\.isUnique).map(\.fields)
      + model.fields.filter(\.isUnique).map { [$0.name] }
    guard !own.contains(where: { Set($0) == Set(fields) }) else { return [] }
    return rules.filter {
      if case .unique = $0.demand { $0.model == model.name && $0.fields == fields } else { false }
    }
  }

  private func duplicate(in model: ModelSchema, fields: [String], rule: String) -> Finding {
    Finding(model.duplicate(fields: fields, rule: rule))
  }

  func required(_ column: String) -> Finding? {
    field(in: column).map { model, field in
      Finding(
        kind: .required, model: model.name, fields: [field.name],
        rule: "\(model.name).\(field.name).required", message: "must have a value",
        remedy: "Give it one.")
    }
  }

  /// SQLite reports neither which reference is broken nor in which direction it points.
  func reference(of name: String?) -> Finding {
    guard let name, let model = models.first(where: { $0.name == name }) else {
      return Finding(
        kind: .reference, rule: "reference",
        message: "refers to a record that does not exist, or another record still refers to it",
        remedy: Self.referenceRemedy)
    }
    let outgoing = model.fields.compactMap { field in
      field.reference.map { (field: field.name, model: modelName(ofTable: $0.table)) }
    }
    let incoming = models.flatMap { other in
      other.fields
        .filter { $0.reference?.table.asciiFolded == model.table.asciiFolded }
        .map { "\(other.name).\($0.name)" }
    }
    let named = outgoing.map { "\($0.field) to \($0.model)" }.joined(separator: ", ")
    let users = incoming.joined(separator: ", ")
    return switch (outgoing.count, incoming.isEmpty) {
    case (1, true):
      Finding(
        kind: .reference, model: name, fields: [outgoing[0].field],
        rule: "\(name).\(outgoing[0].field).reference",
        message: "must name an existing \(outgoing[0].model)",
        remedy: "Insert that record first, or name another.")
    case (0, false):
      Finding(
        kind: .reference, model: name, rule: "\(name).reference",
        message: "is still referred to through \(users)",
        remedy: "Delete or change those records first.")
    case (0, true):
      Finding(
        kind: .reference, model: name, rule: "\(name).reference",
        message: "breaks a reference between other records",
        remedy: "Check what the triggers of the table write.")
    default:
      Finding(
        kind: .reference, model: name, rule: "\(name).reference",
        message: "refers to a record that does not exist (\(named))"
          + (incoming.isEmpty ? "" : " or is still referred to through \(users)"),
        remedy: Self.referenceRemedy)
    }
  }

  private static let referenceRemedy =
    "Insert referenced records first. Change or delete records that refer to a record before you delete it."

  private func modelName(ofTable table: String) -> String {
    models.first { $0.table.asciiFolded == table.asciiFolded }?.name ?? table
  }

  /// A violation reported by a binding's trigger. ``BindingTriggers`` defines its message.
  func binding(_ message: String) -> Finding? {
    for model in models {
      for field in model.fields {
        let target = BindingSchema.Field(model: model.name, field: field.name)
        guard let name = BindingTriggers.bindingName(refusing: target, in: message)
        else { continue }
        return Finding(
          kind: .trigger, model: model.name, fields: [field.name], rule: name, message: message)
      }
    }
    return nil
  }

  // "cannot store TEXT value in INTEGER column Track.milliseconds"
  func type(_ message: String) -> Finding? {
    guard let words = message.rest(after: "cannot store "),
      let found = words.firstRange(of: " value in "),
      let place = words[found.upperBound...].firstRange(of: " column "),
      let (model, field) = field(in: String(words[place.upperBound...]))
    else { return nil }
    return mismatch(
      in: model, field, takes: String(words[found.upperBound..<place.lowerBound]),
      got: String(words[..<found.lowerBound]))
  }

  // "datatype mismatch": only an INTEGER PRIMARY KEY causes this error, and the message names
  // nothing.
  func rowIDType() -> Finding? {
    guard let model = models.first, let index = model.rowIDFieldIndex else { return nil }
    return mismatch(
      in: model, model.fields[index], takes: "INTEGER", got: "a value of another type")
  }

  private func mismatch(
    in model: ModelSchema, _ field: FieldSchema, takes type: String, got found: String
  ) -> Finding {
    let noun =
      switch type {
      case "INT", "INTEGER": "a whole number (\(type))"
      case "REAL": "a number (REAL)"
      case "TEXT": "text (TEXT)"
      case "BLOB": "bytes (BLOB)"
      default: type
      }
    return Finding(
      kind: .type, model: model.name, fields: [field.name],
      rule: "\(model.name).\(field.name).type", message: "must be \(noun), not \(found)",
      remedy: "Convert the value first.")
  }

  /// Returns the field that `text` names as `table.column`.
  private func field(in text: String) -> (ModelSchema, FieldSchema)? {
    for model in models {
      guard let column = text.rest(after: model.table + ".") else { continue }
      if let field = model.fields.first(where: { $0.column == column }) { return (model, field) }
    }
    return nil
  }

  /// Returns the fields that `text` lists as `table.column, table.column`. Returns nil if the text
  /// cannot be parsed completely as columns of `model`.
  private func fields(in text: Substring, of model: ModelSchema) -> [String]? {
    for field in model.fields {
      let column = "\(model.table).\(field.column)"
      guard text.hasPrefix(column) else { continue }
      let rest = text.dropFirst(column.count)
      if rest.isEmpty { return [field.name] }
      guard rest.hasPrefix(", ") else { continue }
      if let others = fields(in: rest.dropFirst(2), of: model) { return [field.name] + others }
    }
    return nil
  }
}

extension ResultCode {
  /// SQLITE_MISMATCH: <https://sqlite.org/rescode.html#mismatch>.
  static let mismatch = ResultCode(rawValue: 20)
}

extension String {
  /// Returns the text after `prefix`, or nil if the text does not start with it.
  fileprivate func rest(after prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }

  /// The quoted name at the start of the text, unquoted as SQLite does, or nil.
  fileprivate var leadingQuotedName: String? {
    let cut = SQLTokens(self)
    guard let first = cut.significant.first, first.kind == .quotedName || first.kind == .string
    else { return nil }
    return cut.name(first)
  }
}
