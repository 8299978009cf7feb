import ArgumentParser
import ModelStore

/// `validators`: the rules in the file, and the rules in Swift that it knows of.
struct ValidatorsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "validators", abstract: "List the rules of a store, add and drop them.",
    subcommands: [
      ValidatorsListCommand.self, ValidatorsAddCommand.self, ValidatorsDropCommand.self,
    ])
}

/// `validators list`: every rule with where it stands.
struct ValidatorsListCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the rules.",
    discussion: """
      Example: storecli validators list Track
      A rule stands in the table's definition, was added beside it, or is in Swift.
      """)

  @Argument(help: "The model; all of them when none is named.")
  var model: String?

  @OptionGroup var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    let models = try model.map { [try opened.model(named: $0)] } ?? opened.store.schema.models
    var writer = try context.reportWriter(
      columns: [
        OutputColumn("rule", role: .key), OutputColumn("model"), OutputColumn("fields"),
        OutputColumn("severity"), OutputColumn("stands"), OutputColumn("message"),
      ])
    var count = 0
    func write(
      _ rule: String, _ models: [String], _ fields: [String], _ severity: Violation.Severity,
      _ place: String, _ message: String
    ) throws {
      try writer.write([
        .text(rule), .text(models.joined(separator: ",")), .text(fields.joined(separator: ",")),
        .text(severity.rawValue), .text(place), .text(message),
      ])
      count += 1
    }
    for model in models {
      for field in model.fields {
        for rule in field.rules {
          try write(rule.name, [model.name], [field.name], .error, "table", rule.message)
        }
      }
      for rule in model.rules {
        try write(rule.name, [model.name], [], .error, "table", rule.message)
      }
    }
    let names = Set(models.map(\.name))
    for rule in try opened.store.rules() where names.contains(rule.model) {
      try write(rule.name, [rule.model], rule.fields, rule.severity, "added", rule.message)
    }
    for validator in try opened.store.declaredValidators()
    where validator.models.contains(where: names.contains) {
      try write(
        validator.name, validator.models, [], .error, "Swift", "only its own program can say")
    }
    try context.finish(writer)
    try context.console.say(Grouped.text(count, "rule"))
    return .ok
  }
}

/// `validators add`: one rule, after the records that break it were counted.
struct ValidatorsAddCommand: LeafCommand {
  /// What breaking a rule means.
  enum Severity: String, CaseIterable, ExpressibleByArgument {
    case error, warning

    var meaning: Violation.Severity { self == .error ? .error : .warning }
  }

  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a rule to a model, or change its message or severity.",
    discussion: """
      Examples: storecli validators add Track --required composer
      storecli validators add Track --length title=1..200
      storecli validators add Track --check 'milliseconds > 0' --message 'must last'
      storecli validators add Booking --no-overlap start,end --per room
      The rule binds every program from then on. Records that break it already are counted and \
      shown, and nothing is added unless --keep-offenders says so.
      """)

  @Argument(help: "The model.")
  var model: String

  @Option(help: ArgumentHelp("These fields must have a value.", valueName: "a,b"))
  var required: String?

  @Option(help: ArgumentHelp("This SQL expression must be true or null.", valueName: "sql"))
  var check: String?

  @Option(
    help: ArgumentHelp(
      "The number of characters, as 1..200, 1.. or ..200.", valueName: "field=range"))
  var length: String?

  @Option(
    help: ArgumentHelp("The number of bytes, as 1..200 or ..200.", valueName: "field=range"))
  var bytes: String?

  @Option(
    help: ArgumentHelp("The values, as 1..200, 1.. or ..200.", valueName: "field=range"))
  var range: String?

  @Option(help: ArgumentHelp("The texts that may stand there.", valueName: "field=a,b"))
  var oneOf: String?

  @Option(help: ArgumentHelp("A LIKE pattern, % and _.", valueName: "field=pattern"))
  var like: String?

  @Option(help: ArgumentHelp("A GLOB pattern, * ? and [a-z].", valueName: "field=pattern"))
  var glob: String?

  @Option(help: ArgumentHelp("These fields together occur once.", valueName: "a,b"))
  var unique: String?

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("With --unique, only among records that meet this SQL.", valueName: "sql"))
  var condition: String?

  @Option(
    help: ArgumentHelp("The field must name a record of the model.", valueName: "field=model"))
  var references: String?

  @Option(help: ArgumentHelp("These fields stay as they were inserted.", valueName: "a,b"))
  var immutable: String?

  @Option(help: ArgumentHelp("At most so many records for each --per.", valueName: "n"))
  var atMost: Int?

  @Option(
    help: ArgumentHelp(
      "The field adds up to at most that for each --per.", valueName: "field=limit"))
  var sum: String?

  @Option(
    help: ArgumentHelp("Two fields are an interval that overlaps with none.", valueName: "from,to"))
  var noOverlap: String?

  @Option(
    help: ArgumentHelp(
      "With --at-most, --sum, --no-overlap: which records count together.", valueName: "a,b"))
  var per: String?

  @Option(help: "The rule's name; by default MODEL.FIELD.KIND.")
  var name: String?

  @Option(help: "What is demanded, to follow the field's name.")
  var message: String?

  @Option(help: ArgumentHelp("What breaking it means, error or warning.", valueName: "what"))
  var severity = Severity.error

  @Flag(help: "Add the rule although records break it; they stay as they are.")
  var keepOffenders = false

  @OptionGroup var write: WriteOptions
  @OptionGroup var options: GlobalOptions

  func validate() throws {
    let demands = [
      required, check, length, bytes, range, oneOf, like, glob, unique, references, immutable, sum,
      noOverlap, atMost.map { "\($0)" },
    ]
    guard demands.count(where: { $0 != nil }) == 1 else {
      throw ValidationError("Choose one demand, such as --required or --check.")
    }
    guard per == nil || atMost != nil || sum != nil || noOverlap != nil else {
      throw ValidationError("--per goes with --at-most, --sum and --no-overlap.")
    }
    guard condition == nil || unique != nil else {
      throw ValidationError("--where goes with --unique.")
    }
  }

  var takesFields: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openForReading()
    var rule = try RuleWords(self).rule(for: try looked.model(named: model))
    if let message { rule.message = message }
    if let name { rule.name = name }
    rule.severity = severity.meaning
    try check(rule, against: looked.store.rules())
    let found = try looked.store.finding(of: rule)
    looked.store.close()
    guard !write.dryRun else {
      try context.console.say(found.map(Self.offenders) ?? "no record breaks it")
      try context.console.say("dry run: nothing was added")
      let canKeep = severity == .warning || keepOffenders && rule.kind != .unique
      return found == nil || canKeep ? .ok : .rejected
    }
    let opened = try context.openForWriting(write)
    let finding = try opened.store.add(rule, keepingOffenders: keepOffenders)
    try context.console.say("added \(rule.name): \(rule.model) \(rule.message)")
    if let finding { try context.console.say(Self.offenders(finding)) }
    return .ok
  }

  /// Names are unique in a store, so another rule of that name would be lost.
  private func check(_ rule: Rule, against present: [Rule]) throws {
    guard let other = present.first(where: { $0.name == rule.name }),
      other.model != rule.model || other.fields != rule.fields || other.demand != rule.demand
    else { return }
    throw CommandError.usage(
      "There is a rule \(other.name) already: \(other.model) \(other.message).",
      hint: "give this one another --name, or storecli validators drop \(Shell.quoted(other.name))",
      model: other.model)
  }

  private static func offenders(_ finding: RuleFinding) -> String {
    let keys = finding.keys.map(KeyText.text).joined(separator: " ")
    let more = finding.count > finding.keys.count ? " …" : ""
    return "broken by \(Grouped.text(finding.count, "record")): \(keys)\(more)"
  }
}

/// `validators drop`: one rule that was added.
struct ValidatorsDropCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Drop a rule that was added.",
    discussion: """
      Example: storecli validators drop Track.composer.required
      Records stay as they are. A rule in a table's definition takes a migration.
      """)

  @Argument(help: "The rule's name.")
  var name: String

  @OptionGroup var write: WriteOptions
  @OptionGroup var options: GlobalOptions

  var takesFields: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    func names(_ store: Store) throws -> [String] { try store.rules().map(\.name) }
    func isThere(_ store: Store) throws -> Bool {
      let isDeclared = store.schema.models.contains { model in
        (model.fields.flatMap(\.rules) + model.rules).contains { $0.name == name }
      }
      return try isDeclared || names(store).contains(name)
    }
    return try Dropping(noun: "rule", code: "unknownRule", list: "storecli validators list")
      .drop(
        name, names: names, isThere: isThere, write, context, by: { try $0.dropRule(name) })
  }
}
