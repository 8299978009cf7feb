import ArgumentParser
import ModelStore

/// `consumers reset`: moves a consumer to another position.
struct ConsumersResetCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset", abstract: "Move a consumer to another position.",
    discussion: """
      Examples: storecli consumers reset search-index
      storecli consumers reset search-index --to 88214
      storecli consumers reset search-index --to 1h
      Without --to, the consumer starts over with the oldest entry of the journal.
      """)

  @Argument(help: "The consumer's name.", completion: Completion.consumer)
  var name: String

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Continue after this position, span such as 10m, or date; or start, or end.",
      valueName: "position"),
    transform: { try Target(argument: $0) })
  var to = Target.start

  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  /// Where the consumer continues.
  enum Target: Equatable {
    case start
    case end
    case place(JournalPlace)

    init(argument: String) throws {
      switch argument {
      case "start": self = .start
      case "end": self = .end
      default:
        guard let place = JournalPlace(argument: argument) else {
          throw ValidationError("--to takes \(JournalPlace.forms); or start, or end.")
        }
        self = .place(place)
      }
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook()
    let names = try looked.store.consumers().map(\.name)
    guard names.contains(name) else {
      throw CommandError.unknown(
        "consumer", name, among: names, code: .unknownConsumer, list: "storecli consumers list")
    }
    let start: Consumer.Start =
      switch to {
      case .start: .start
      case .end: .end
      case .place(let place): .position(try place.position(in: looked.store.changeJournal))
      }
    looked.store.close()
    guard !context.isDryRun else {
      try context.console.say("dry run: \(name) would be moved")
      return .ok
    }
    let store = try context.openForWriting().store
    try store.resetConsumer(name, to: start)
    if let status = try store.consumers().first(where: { $0.name == name }) {
      try context.console.say(
        "\(name) continues after position \(status.position), \(Grouped.text(Int(status.lag))) to come"
      )
    }
    return .ok
  }
}
