import ArgumentParser
import ModelStore
import RecordFormats

/// `consumers replay`: asks a worker to process dead letters again.
struct ConsumersReplayCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Ask a worker to process its dead letters again, or drop them.",
    discussion: """
      Example: storecli consumers replay search-index
      The worker that runs now, or the next one, processes them before its next batch. A letter that \
      fails again stays.
      """)

  @Argument(help: "The consumer's name.", completion: Completion.consumer)
  var name: String

  @Argument(help: "Positions of letters; all of the consumer if you leave them out.")
  var positions: [Int64] = []

  @Flag(help: "Remove the letters instead. Their changes stay in the journal.")
  var drop = false

  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook()
    let wanted = positions.map(JournalPosition.init(rawValue:))
    let found = try looked.store.deadLetters(of: name).map(\.change.position)
    let chosen = wanted.isEmpty ? found : found.filter(wanted.contains)
    looked.store.close()
    guard !chosen.isEmpty, chosen.count == wanted.count || wanted.isEmpty else {
      throw CommandError(
        .notFound, code: "notFound", problem(missing: wanted.filter { !found.contains($0) }),
        hint: "\(Program.name) consumers letters")
    }
    let what = Grouped.text(chosen.count, "dead letter")
    guard !context.isDryRun else {
      try context.console.say("dry run: \(what) would be \(drop ? "dropped" : "processed again")")
      return .ok
    }
    let store = try context.openForWriting().store
    if drop {
      try store.dropDeadLetters(of: name, at: chosen)
    } else {
      try store.replayDeadLetters(of: name, at: chosen)
    }
    try context.console.say(
      drop ? "dropped \(what)" : "\(name) will process \(what) again before its next batch")
    return .ok
  }

  private func problem(missing: [JournalPosition]) -> String {
    guard !missing.isEmpty else { return "\(name) has no dead letter." }
    let places = missing.map { String($0.rawValue) }.joined(separator: ", ")
    return "\(name) has no dead letter at position \(places). Nothing was changed."
  }
}
