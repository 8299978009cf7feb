import ArgumentParser
import ModelStore

/// `bindings add`: one binding, existing records put right.
struct BindingsAddCommand: WritingCommand {
  /// What happens when both ends of a two-way binding are written.
  enum Conflict: String, CaseIterable, ExpressibleByArgument {
    case leftWins = "left-wins"
    case rightWins = "right-wins"
    case abort

    var meaning: BindingConflict {
      switch self {
      case .leftWins: .leftWins
      case .rightWins: .rightWins
      case .abort: .abort
      }
    }
  }

  enum Side: String, CaseIterable, ExpressibleByArgument {
    case left, right
  }

  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Keep a field in sync with something else, for every program.",
    discussion: """
      Examples: storecli bindings add Album.artistName --copy Artist.name --through artistID
      storecli bindings add Track.slug --derive 'lower(title)'
      storecli bindings add City.country --copy Country.name --match code=countryCode
      storecli bindings add Track.unit --copy Setting.unit --of 1
      storecli bindings add Album.length --aggregate sum=Track.milliseconds --through albumID
      storecli bindings add Shop.tracks --aggregate count=Track --of 1
      storecli bindings add Item.price --two-way Item.cents --as 'cents / 100.0' \
      --back 'CAST(round(price * 100) AS INTEGER)'
      The field of a two-way binding is its right end. Existing records are put right; with the \
      change journal on, bindings drop and then undo bring their values back. Ctrl-C and SIGTERM \
      stop the running statement, and nothing is added.
      """)

  @Argument(help: ArgumentHelp("The field that follows.", valueName: "model.field"))
  var target: String

  @Option(help: ArgumentHelp("Copy this field.", valueName: "model.field"))
  var copy: String?

  @Option(help: ArgumentHelp("Follow an expression over the same record.", valueName: "sql"))
  var derive: String?

  @Option(
    help: ArgumentHelp(
      "Follow what records come to: count, sum, average, minimum, maximum, first, last, joined.",
      valueName: "function=model.field"))
  var aggregate: String?

  @Option(
    help: ArgumentHelp(
      "Keep in step with this field, each following the other.", valueName: "model.field"))
  var twoWay: String?

  @Option(
    help: ArgumentHelp(
      "The field that refers to the other record: the target's, or with --aggregate the source's.",
      valueName: "field"))
  var through: String?

  @Option(
    help: ArgumentHelp(
      "The fields whose equal values bring records together.", valueName: "source=target,..."))
  var match: String?

  @Option(
    help: ArgumentHelp(
      "The key of the one record to copy from, or to hold the aggregate of all.",
      valueName: "key"))
  var of: String?

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp("What to make of the source on the way.", valueName: "sql"))
  var asSQL: String?

  @Option(
    help: ArgumentHelp("With --two-way, what to make of it on the way back.", valueName: "sql"))
  var back: String?

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("With --aggregate, only records that meet this SQL.", valueName: "sql"))
  var condition: String?

  @Option(
    help: ArgumentHelp("Only for records of the target that meet this SQL.", valueName: "sql"))
  var when: String?

  @Option(
    help: ArgumentHelp("With first, last and joined, the field that orders.", valueName: "field"))
  var by: String?

  @Option(help: ArgumentHelp("With joined, what stands between.", valueName: "text"))
  var separator: String?

  @Option(help: "Among bindings of one field, the highest whose condition holds is in force.")
  var priority: Int?

  @Flag(help: "Replace only the number in the target's text.")
  var number = false

  @Flag(help: "Keep the last value while there is no source.")
  var keepLast = false

  @Option(
    help: ArgumentHelp(
      "With --two-way, when both ends are written at once; left-wins by default.",
      valueName: "policy"))
  var conflict: Conflict?

  @Option(
    help: ArgumentHelp(
      "With --two-way, which end is right now; left by default.", valueName: "side"))
  var initially: Side?

  @Option(help: "The binding's name; by default the target's.")
  var name: String?

  @Flag(help: "Do not ask before records get other values.")
  var yes = false

  @OptionGroup var write: WriteOptions
  @OptionGroup var options: GlobalOptions

  func validate() throws {
    guard [copy, derive, aggregate, twoWay].count(where: { $0 != nil }) == 1 else {
      throw ValidationError("Choose one of --copy, --derive, --aggregate and --two-way.")
    }
    guard [through, match, of].count(where: { $0 != nil }) <= 1 else {
      throw ValidationError("Choose one of --through, --match and --of.")
    }
    guard condition == nil || aggregate != nil else {
      throw ValidationError("--where goes with --aggregate; for the target it is --when.")
    }
    let ordered = ["first", "last", "joined"].contains { aggregate?.hasPrefix($0 + "=") == true }
    let isJoined = aggregate?.hasPrefix("joined=") == true
    let isLinked = derive == nil
    // An option that would do nothing is a mistake.
    let companions: [(option: String, isGiven: Bool, goes: Bool, with: String)] = [
      ("--back", back != nil, twoWay != nil, "--two-way"),
      ("--conflict", conflict != nil, twoWay != nil, "--two-way"),
      ("--initially", initially != nil, twoWay != nil, "--two-way"),
      ("--as", asSQL != nil, copy != nil || twoWay != nil, "--copy and --two-way"),
      ("--keep-last", keepLast, copy != nil, "--copy"),
      ("--by", by != nil, ordered, "--aggregate first, last and joined"),
      ("--separator", separator != nil, isJoined, "--aggregate joined"),
      ("--of", of != nil, copy != nil || aggregate != nil, "--copy and --aggregate"),
      ("--through", through != nil, isLinked, "--copy, --aggregate and --two-way"),
      ("--match", match != nil, isLinked, "--copy, --aggregate and --two-way"),
    ]
    if let idle = companions.first(where: { $0.isGiven && !$0.goes }) {
      throw ValidationError("\(idle.option) goes with \(idle.with).")
    }
  }

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook()
    let binding = try BindingWords(self, in: looked).binding()
    // Refuses what names nothing before anybody waits for the file.
    _ = try refusingWords { try FieldBinding(binding).schema(in: looked.store.schema.models) }
    let others = try looked.store.bindings()
    if let other = others.first(where: { $0.name == binding.name }), other != binding {
      throw CatalogAddition.binding.isTaken(
        other.name, by: "\(other)", model: other.target.model)
    }
    for model in try binding.writtenModels(among: others, in: looked.store) {
      _ = try looked.writableModel(named: model, write)
    }
    let mayOverwrite = try binding.boundFields.contains { try looked.holdsValues(in: $0) }
    looked.store.close()
    let store = try context.openForWriting().store
    if mayOverwrite, !yes, !context.isDryRun {
      let count = try add(binding, to: store, mode: .preview, context)
      let isGranted =
        try count == 0
        || Confirmation.isGranted(
          "Go on with this: \(Grouped.text(count, "record")) put right?", isGiven: false,
          flag: "--yes", console: context.console)
      guard isGranted else {
        try context.console.say("nothing was added")
        return .failed
      }
    }
    if !context.isDryRun { Interruption.await() }
    let count = try add(binding, to: store, mode: context.isDryRun ? .preview : .commit, context)
    let would = context.isDryRun ? "would be " : ""
    try CatalogAddition.binding.say(
      "added", "\(would)added \(binding.name): \(binding)",
      consequence: count > 0 ? "\(Grouped.text(count, "record")) \(would)put right" : nil, context)
    return .ok
  }

  /// - Returns: How many records did not hold their value.
  private func add(
    _ binding: BindingSchema, to store: Store, mode: WriteMode, _ context: CommandContext
  ) throws -> Int {
    var progress = Progress(console: context.console)
    defer { progress.clear() }
    let verb = mode == .preview ? "looking at" : "adding"
    let interruption = CommandError(
      .interrupted, code: "interrupted", "Interrupted; the binding was not added.")
    do {
      return try refusingWords {
        try store.add(FieldBinding(binding), mode: mode) { done, all in
          guard !Interruption.isRequested else { throw interruption }
          progress.show("\(verb) \(binding.name)", done: done, of: all)
        }
      }
    } catch  where Interruption.explains(error) {
      throw interruption
    }
  }

  /// Runs `body`, which refuses what cannot be kept.
  private func refusingWords<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as StoreError where error.code == .unsupportedSchema {
      throw CatalogAddition.binding.refused(error, model: error.model, field: error.field)
    }
  }
}

extension OpenedStore {
  /// Whether any record has a value in `field`, which a binding could replace.
  fileprivate func holdsValues(in field: BindingSchema.Field) throws -> Bool {
    let model = try model(named: field.model)
    let column = try model.requiredField(named: field.field).column
    let query = StoreQuery<DynamicRecord>(model, where: .sql("\(identifier: column) IS NOT NULL"))
    return try read { reads in try reads.count(query.limit(1)) } > 0
  }
}
