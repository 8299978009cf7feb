import ArgumentParser
import ModelStore

/// `rules add`: adds one rule, after counting the records that break it.
struct RulesAddCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a rule to a model, or change its message or severity.",
    discussion: """
      Examples: storecli rules add Track --required composer
      storecli rules add Track --length title=1..200
      storecli rules add Track --check 'milliseconds > 0' --message 'must last'
      storecli rules add Booking --no-overlap start,end --per room
      Every program must then keep the rule. If stored records break it, the command lists them and \
      adds nothing, unless you pass --keep-violations. If you add an existing rule again, it keeps \
      the message and the severity that you leave out.
      """)

  @Argument(help: "The model.", completion: Completion.model)
  var model: String

  @Option(
    help: ArgumentHelp("These fields must have a value.", valueName: "a,b"),
    completion: Completion.fields)
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

  @Option(help: ArgumentHelp("The values that are allowed.", valueName: "field=a,b"))
  var oneOf: String?

  @Option(help: ArgumentHelp("A LIKE pattern, % and _.", valueName: "field=pattern"))
  var like: String?

  @Option(help: ArgumentHelp("A GLOB pattern, * ? and [a-z].", valueName: "field=pattern"))
  var glob: String?

  @Option(
    help: ArgumentHelp("These fields together occur once.", valueName: "a,b"),
    completion: Completion.fields)
  var unique: String?

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("With --unique, only among records that meet this SQL.", valueName: "sql"))
  var condition: String?

  @Option(
    help: ArgumentHelp("The field must name a record of the model.", valueName: "field=model"))
  var references: String?

  @Option(
    help: ArgumentHelp("These fields stay as they were inserted.", valueName: "a,b"),
    completion: Completion.fields)
  var immutable: String?

  @Option(help: ArgumentHelp("At most this number of records for each --per.", valueName: "n"))
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

  @Option(help: "The text after the field's name, such as 'must last'.")
  var message: String?

  @Option(
    help: ArgumentHelp(
      "error refuses the write, warning reports it; error by default.", valueName: "what"),
    transform: { try Self.severity(named: $0) })
  var severity: Violation.Severity?

  @Flag(help: "Add the rule although records break it; they stay as they are.")
  var keepViolations = false

  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  private var demands: [RuleDemand] {
    let given: [RuleDemand?] = [
      required.map(RuleDemand.required), check.map(RuleDemand.check),
      length.map(RuleDemand.length), bytes.map(RuleDemand.bytes), range.map(RuleDemand.range),
      oneOf.map(RuleDemand.oneOf), like.map(RuleDemand.like), glob.map(RuleDemand.glob),
      unique.map(RuleDemand.unique), references.map(RuleDemand.references),
      immutable.map(RuleDemand.immutable), atMost.map(RuleDemand.atMost),
      sum.map(RuleDemand.sum), noOverlap.map(RuleDemand.noOverlap),
    ]
    return given.compactMap(\.self)
  }

  private static func severity(named name: String) throws -> Violation.Severity {
    guard let severity = Violation.Severity(rawValue: name) else {
      let names = Violation.Severity.allCases.map(\.rawValue).joined(separator: " or ")
      throw ValidationError("--severity takes \(names); got \(name).")
    }
    return severity
  }

  func validate() throws {
    guard demands.count == 1 else {
      throw ValidationError("Choose one demand, such as --required or --check.")
    }
    guard per == nil || demands[0].takesGroup else {
      throw ValidationError("--per goes with --at-most, --sum and --no-overlap.")
    }
    guard condition == nil || demands[0].takesCondition else {
      throw ValidationError("--where goes with --unique.")
    }
    guard message?.isEmpty != true, name?.isEmpty != true else {
      throw ValidationError("--name and --message take a text.")
    }
    guard immutable == nil || severity != .warning else {
      throw ValidationError(
        "--immutable takes no warning: no stored record shows that a field was changed.")
    }
  }

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook()
    let schema = try looked.model(named: model)
    let words = RuleWords(demand: demands[0], group: per, condition: condition)
    var rule = try words.rule(for: schema, in: looked)
    if let name { rule.name = name }
    let present = try looked.store.rules().first { $0.name == rule.name }
    if let present {
      try check(rule, against: present)
      (rule.message, rule.remedy) = (present.message, present.remedy)
      rule.severity = present.severity
    }
    if let message { rule.message = message }
    if let severity { rule.severity = severity }
    let found = try finding(of: rule, schema, looked.store)
    let isSharedAlready = try present == rule && looked.isMember
    looked.store.close()
    let canStay = rule.severity == .warning || keepViolations && rule.kind != .unique
    if let found, !canStay { throw RuleRefusal(found, "added").error }
    // All members would begin again for nothing.
    if !context.isDryRun, !isSharedAlready {
      var opened = try context.openForWriting()
      try context.changeCatalog(through: &opened) { try add(rule, to: $0) }
    }
    let verb = present == nil ? "added" : "changed"
    let place = ([rule.model] + rule.fields.prefix(rule.fields.count == 1 ? 1 : 0))
      .joined(separator: ".")
    try CatalogAddition.rule.say(
      verb,
      "\(context.isDryRun ? "would be \(verb):" : verb) \(rule.name): \(place) \(rule.message)",
      consequence: found.map { "broken by \($0.recordsText)" }, context)
    return .ok
  }

  private func add(_ rule: Rule, to store: Store) throws {
    do {
      try store.add(rule, existingViolations: keepViolations ? .keep : .refuse)
    } catch let error as StoreError where error.code == .rejected {
      // A record has begun to break the rule since the check.
      guard let found = try store.finding(of: rule) else { throw error }
      throw RuleRefusal(found, "added").error
    }
  }

  private func check(_ rule: Rule, against other: Rule) throws {
    guard
      other.model != rule.model || other.fields != rule.fields || other.demand != rule.demand
    else { return }
    throw CatalogAddition.rule.isTaken(
      other.name, by: "\(other.model) \(other.message)", model: other.model)
  }

  /// The records that break the rule.
  ///
  /// - Throws: ``CommandError`` for wrong usage if the store does not accept the rule, which the
  ///   words of the command describe.
  private func finding(
    of rule: Rule, _ schema: ModelSchema, _ store: Store
  ) throws -> RuleFinding? {
    do {
      return try store.finding(of: rule)
    } catch let error as StoreError where error.code == .configurationConflict {
      throw CommandError.usage(
        error.message, hint: "choose another --name", model: schema.name)
    } catch let error as StoreError where error.code == .unsupportedSchema {
      let unknown = error.message.firstRange(of: "no such column: ").map { start in
        let rest = error.message[start.upperBound...]
        return String(rest[..<(rest.firstRange(of: ". Check the")?.lowerBound ?? rest.endIndex)])
      }
      guard let unknown else {
        throw CatalogAddition.rule.refused(error, model: schema.name)
      }
      guard !schema.fields.contains(where: { $0.column == unknown }) else {
        throw CommandError.drift("no such column: \(unknown)", model: schema.name)
      }
      let near = NearMiss.suggestions(for: unknown, among: schema.fields.map(\.column))
      throw CommandError.usage(
        "\(schema.name) has no column \(unknown)" + CommandError.meant(near),
        hint: "storecli models \(Shell.quoted(schema.name))", model: schema.name, field: unknown)
    }
  }
}
