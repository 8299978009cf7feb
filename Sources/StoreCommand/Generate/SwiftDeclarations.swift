import ModelStore

/// The models, bindings and rules of a file as one value to open the store with.
struct SwiftDeclarations {
  private let models: [String]
  private let bindings: [String]
  private let rules: [String]
  /// What cannot be declared in Swift, a sentence for each. The file keeps it.
  let omissions: [String]

  init(_ description: StoreDescription, _ names: SwiftNames) {
    models = description.models.filter(\.isDeclarable).map { "\(names.type(of: $0)).self" }
    var omissions: [String] = []
    var bindings: [String] = []
    for binding in description.bindings {
      if let text = SwiftBinding(binding, description, names).text {
        bindings.append(text)
      } else {
        omissions.append(
          "The binding \(binding.name) stays in the file and is not declared: \(binding).")
      }
    }
    var rules: [String] = []
    for rule in description.rules {
      if let text = SwiftRule(rule, description, names).text {
        rules.append(text)
      } else {
        omissions.append(
          "The rule \(rule.name) stays in the file and is not declared: "
            + "\(rule.fields.isEmpty ? rule.model : rule.fields.joined(separator: ", ")) "
            + "\(rule.message).")
      }
    }
    self.bindings = bindings
    self.rules = rules
    self.omissions = omissions
  }

  func text(_ access: SwiftSource.Access) -> String {
    let prefix = access.prefix
    let parts = [
      "\(prefix)static let models: [any Model.Type] = \(SwiftText.list(models))",
      "\(prefix)static let bindings: [FieldBinding] = \(SwiftText.list(bindings))",
      "\(prefix)static let rules: [Rule] = \(SwiftText.list(rules))",
      """
      /// Opens the store at `path` with these declarations.
      ///
      /// - Parameter migrations: Those that the file has had, and newer ones.
      \(prefix)static func open(
        at path: String, migrations: [Migration] = [],
        configuration: StoreConfiguration = StoreConfiguration()
      ) throws -> Store {
        try Store(
          at: path, models: models, migrations: migrations, bindings: bindings, rules: rules,
          configuration: configuration)
      }
      """,
    ]
    let body = SwiftText.indented(parts.joined(separator: "\n\n"))
    let declarations = "/// What the file declares.\n\(prefix)enum StoreDeclarations {\n\(body)\n}"
    guard rules.contains(where: { $0.contains(").with { ") }) else { return declarations }
    return declarations + """


      extension Rule {
        /// Returns the rule with another name or text than it has by default.
        fileprivate func with(_ change: (inout Rule) -> Void) -> Rule {
          var rule = self
          change(&rule)
          return rule
        }
      }
      """
  }
}

/// A rule beside a table, in Swift.
private struct SwiftRule {
  let text: String?

  init(_ rule: Rule, _ description: StoreDescription, _ names: SwiftNames) {
    guard let model = description.model(named: rule.model), model.isDeclarable,
      rule.fields.allSatisfy({ model.field(named: $0) != nil })
    else {
      text = nil
      return
    }
    let writer = Writer(rule: rule, model: model, description: description, names: names)
    guard let (call, made) = writer.call else {
      text = nil
      return
    }
    var changes: [String] = []
    if made.name != rule.name { changes.append("$0.name = \(SwiftText.literal(rule.name))") }
    if made.message != rule.message {
      changes.append("$0.message = \(SwiftText.literal(rule.message))")
    }
    if made.severity != rule.severity { changes.append("$0.severity = .\(rule.severity)") }
    if let remedy = rule.remedy { changes.append("$0.remedy = \(SwiftText.literal(remedy))") }
    if made.fields != rule.fields {
      changes.append("$0.fields = [\(rule.fields.map(SwiftText.literal).joined(separator: ", "))]")
    }
    text = changes.isEmpty ? call : "\(call).with { \(changes.joined(separator: "; ")) }"
  }

  private struct Writer {
    let rule: Rule
    let model: ModelSchema
    let description: StoreDescription
    let names: SwiftNames

    private func path(_ field: String) -> String { names.path(field, of: model) }
    private func grouped(_ per: [String]) -> [String] {
      per.isEmpty ? [] : ["per: \(paths(per))"]
    }
    private func paths(_ fields: [String]) -> String { fields.map(path).joined(separator: ", ") }

    /// The call, and the rule that it makes; nil if there is none.
    var call: (String, Rule)? {
      let type = "\(names.type(of: model)).self"
      let name = SwiftText.literal(rule.name)
      func made(_ name: String, fields: [String]? = nil, message: String? = nil) -> Rule {
        Rule(name, of: rule.model, fields: fields ?? rule.fields, rule.demand, message: message)
      }
      func named(_ ending: String) -> Rule { made("\(rule.model).\(rule.fields[0]).\(ending)") }
      let first = rule.fields.first
      switch rule.demand {
      case .required:
        guard let first, rule.fields.count == 1 else { return nil }
        return (".required(\(path(first)))", named("required"))
      case .immutable:
        guard let first, rule.fields.count == 1 else { return nil }
        return (".immutable(\(path(first)))", named("immutable"))
      case .condition(let sql):
        var arguments = [
          name, "of: \(type)", SwiftText.literal(sql), SwiftText.literal(rule.message),
        ]
        if !rule.fields.isEmpty { arguments.append("fields: [\(paths(rule.fields))]") }
        return (SwiftText.call(".condition", arguments), made(rule.name, message: rule.message))
      case .unique(let condition):
        guard first != nil else { return nil }
        var arguments = [name] + rule.fields.map(path)
        if let condition { arguments.append("where: \(SwiftText.literal(condition))") }
        return (SwiftText.call(".unique", arguments), made(rule.name))
      case .reference(let other):
        guard let first, rule.fields.count == 1, let referred = description.model(named: other),
          referred.isDeclarable
        else { return nil }
        return (".reference(\(path(first)), to: \(names.type(of: referred)).self)", named("exists"))
      case .countAtMost(let count, let per):
        return (
          SwiftText.call(
            ".atMost", ["\(count)", "of: \(type)"] + grouped(per) + ["name: \(name)"]),
          made(rule.name, fields: per)
        )
      case .sumAtMost(let limit, let per):
        guard let first, rule.fields.count == 1 else { return nil }
        return (
          SwiftText.call(
            ".sum", [path(first), "atMost: \(limit)"] + grouped(per) + ["name: \(name)"]),
          made(rule.name)
        )
      case .noOverlap(let per):
        // The compiler takes both ends only if they have one type.
        let ends = rule.fields.compactMap(model.field(named:))
        guard ends.count == 2,
          SwiftType.declared(ends[0], in: model) == SwiftType.declared(ends[1], in: model)
        else { return nil }
        return (
          SwiftText.call(
            ".noOverlap",
            ["from: \(path(rule.fields[0]))", "to: \(path(rule.fields[1]))"] + grouped(per)
              + ["name: \(name)"]), made(rule.name)
        )
      }
    }
  }
}
