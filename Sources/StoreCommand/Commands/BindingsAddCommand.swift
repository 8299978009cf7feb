import ArgumentParser
import ModelStore

/// `bindings add`: one binding, existing records put right.
struct BindingsAddCommand: ChangingCommand {
  /// What happens when both ends of a two-way binding are written.
  enum Conflict: String, CaseIterable, ExpressibleByArgument {
    case leftWins = "left-wins"
    case rightWins = "right-wins"
    case abort

    var meaning: BindingSchema.TwoWay.Conflict {
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
      The field of a two-way binding is its right end. Existing records are put right.
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

  @Option(help: ArgumentHelp("When both ends are written at once.", valueName: "policy"))
  var conflict = Conflict.leftWins

  @Option(help: ArgumentHelp("Which end is right now.", valueName: "side"))
  var initially = Side.left

  @Option(help: "The binding's name; by default the target's.")
  var name: String?

  @OptionGroup var change: ChangeOptions
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
    guard back == nil || twoWay != nil else {
      throw ValidationError("--back goes with --two-way.")
    }
  }

  var takesFields: Bool { false }
  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook()
    let binding = try BindingWords(self, in: looked).binding()
    // Refuses what names nothing before anybody waits for the file.
    _ = try Binding(binding).schema(in: looked.store.schema.models)
    if let other = try looked.store.bindings().first(where: { $0.name == binding.name }),
      other != binding
    {
      throw CommandError.usage(
        "There is a binding \(other.name) already: \(other).",
        hint: "give this one another --name, or storecli bindings drop \(Shell.quoted(other.name))",
        model: other.target.model)
    }
    looked.store.close()
    if context.isDryRun {
      try context.console.say("dry run: \(binding) was not added")
      return .ok
    }
    Interruption.await()
    var progress = Progress(console: context.console)
    try context.openForWriting().store.add(Binding(binding)) { done, all in
      guard !Interruption.isRequested else {
        throw CommandError(
          .interrupted, code: "interrupted", "Interrupted; the binding was not added.")
      }
      progress.show("adding \(binding.name)", done: done, of: all)
    }
    progress.clear()
    try context.console.say("added \(binding.name): \(binding)")
    return .ok
  }
}
