/// Turns SQLite's refusal of a statement into a violation: of which rule, by which fields.
///
/// SQLite tells by message only, and names in a message are neither quoted nor escaped. So they are
/// matched against the models' names; text is never cut at dots and commas, which names may hold.
struct ConstraintTranslation {
  /// What the caller knows about the statement that failed.
  struct Context {
    /// The model that the statement writes, or nil when it is raw SQL.
    var model: String?
    /// The key of the one record that it writes, where it writes one.
    var key: [SQLValue]?
    /// The trigger that was running, where the caller follows triggers.
    var trigger: String?
  }

  private let models: [ModelSchema]
  private let rules: [Rule]
  private let raisers: [RaisingTrigger]

  /// - Parameters:
  ///   - rules: Those that were added to models.
  ///   - raisers: The triggers that may refuse, which are not the store's own.
  init(models: [ModelSchema], rules: [Rule] = [], raisers: [RaisingTrigger] = []) {
    self.models = models
    self.rules = rules
    self.raisers = raisers
  }

  /// The error for callers: code `rejected` with one violation for a broken constraint, and what
  /// ``StoreError`` says by itself for any other failure.
  ///
  /// The violation's model is empty where neither SQLite nor the context tells it.
  func storeError(for error: SQLiteError, in context: Context = Context()) -> StoreError {
    guard let finding = finding(for: error, in: context) else { return StoreError(error) }
    let violation = Violation(
      kind: finding.kind, model: finding.model ?? "",
      // A trigger or cascade of the statement may have failed on another model's record.
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
          remedy: "Change the record so that it does.")
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
  /// SQLite tells what a trigger says, not which one says it.
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

/// A violation in the making, and the sentence about it.
private struct Finding {
  var kind: Violation.Kind
  var model: String?
  var fields: [String] = []
  var rule: String
  /// What is demanded, to follow the field's name: "must be unique".
  var message: String
  /// A sentence, or nil when only the application knows what to do.
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

/// Finds in the models what a message of SQLite speaks of.
private struct MessageReader {
  /// The statement's own model first: names may occur in several.
  let models: [ModelSchema]
  let rules: [Rule]

  /// A rule that was added, which ``RuleObjects`` words.
  func rule(_ message: String) -> Finding? {
    for rule in rules {
      if message.isExactly(rule.refusal) { return Finding(rule.violation) }
      if message.isExactly(rule.refusalOfReferenced), let violation = rule.violationOfReferenced {
        return Finding(violation)
      }
    }
    return nil
  }

  // A CHECK is named by its constraint name; without one by its expression, which SQLite unquotes
  // when it begins with a quoted name, dropping what follows.
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
        message: "must meet every one of: \(unnamed.map(\.message).joined(separator: "; "))",
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
      // An adopted CHECK may hold a comment; then the rule is about the record as a whole.
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
        // SQLite tells the columns, which rules for different records may share.
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

  /// The added rules that demand it, unless the table's own definition does.
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

  /// SQLite does not tell which reference is broken, nor whether it is of the record or to it.
  func reference(of name: String?) -> Finding {
    guard let name, let model = models.first(where: { $0.name == name }) else {
      return Finding(
        kind: .reference, rule: "reference",
        message: "refers to a record that does not exist, or is referred to by one that would stay",
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
        remedy: "Look at what its triggers write.")
    default:
      Finding(
        kind: .reference, model: name, rule: "\(name).reference",
        message: "refers to a record that does not exist (\(named))"
          + (incoming.isEmpty ? "" : " or is still referred to through \(users)"),
        remedy: Self.referenceRemedy)
    }
  }

  private static let referenceRemedy =
    "Insert what is referred to first; delete or change what refers to it before it goes."

  private func modelName(ofTable table: String) -> String {
    models.first { $0.table.asciiFolded == table.asciiFolded }?.name ?? table
  }

  /// A binding's own refusal, which ``BindingTriggers`` words.
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

  // "datatype mismatch": only an INTEGER PRIMARY KEY refuses with it, and it names nothing.
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

  /// The one field that `text` names as `table.column`.
  private func field(in text: String) -> (ModelSchema, FieldSchema)? {
    for model in models {
      guard let column = text.rest(after: model.table + ".") else { continue }
      if let field = model.fields.first(where: { $0.column == column }) { return (model, field) }
    }
    return nil
  }

  /// The fields that `text` lists as `table.column, table.column`, or nil when no reading of it
  /// as columns of `model` reaches its end.
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
  fileprivate static let mismatch = ResultCode(rawValue: 20)
}

extension String {
  /// What follows `prefix`, or nil when the text does not begin with it.
  fileprivate func rest(after prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }

  /// The name in the quotes that the text begins with, unquoted as SQLite does, or nil.
  fileprivate var leadingQuotedName: String? {
    let cut = SQLTokens(self)
    guard let first = cut.significant.first, first.kind == .quotedName || first.kind == .string
    else { return nil }
    return cut.name(first)
  }
}
