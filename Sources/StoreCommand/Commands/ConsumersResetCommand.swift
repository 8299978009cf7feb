import ArgumentParser
import ModelStore

/// `consumers reset`: moves a consumer to another place.
struct ConsumersResetCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset", abstract: "Move a consumer to another place in the journal.",
    discussion: """
      Example: storecli consumers reset search-index --to 88214
      Without --to it begins anew with the oldest entry.
      """)

  @Argument(help: "The consumer's name.")
  var name: String

  @Option(
    help: ArgumentHelp(
      "The position behind which it goes on, or start, or end.", valueName: "position"))
  var to = "start"

  @OptionGroup var change: ChangeOptions
  @OptionGroup var options: GlobalOptions

  var hasData: Bool { false }

  private var start: Consumer.Start? {
    switch to {
    case "start": .start
    case "end": .end
    default:
      Int64(to).flatMap { $0 >= 0 ? .position(JournalPosition(rawValue: $0)) : nil }
    }
  }

  func validate() throws {
    guard start != nil else {
      throw ValidationError("--to takes a position, start or end.")
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    guard let start else { throw CommandError.usage("--to takes a position, start or end.") }
    let looked = try context.openToLook()
    let names = try looked.store.consumers().map(\.name)
    guard names.contains(name) else {
      throw CommandError.unknown(
        "consumer", name, among: names, code: .unknownConsumer, list: "storecli consumers list")
    }
    let end = try looked.store.changeJournal.position()
    if case .position(let position) = start, position > end {
      throw CommandError.usage(
        "The journal ends at seq \(end), so nothing follows \(position) yet.",
        hint: "storecli journal status")
    }
    looked.store.close()
    guard !context.isDryRun else {
      try context.console.say("dry run: \(name) was not moved")
      return .ok
    }
    let store = try context.openForWriting().store
    try store.resetConsumer(name, to: start)
    if let status = try store.consumers().first(where: { $0.name == name }) {
      try context.console.say(
        "\(name) goes on behind seq \(status.position), \(Grouped.text(Int(status.lag))) to come")
    }
    return .ok
  }
}
