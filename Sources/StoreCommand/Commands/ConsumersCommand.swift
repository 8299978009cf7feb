import ArgumentParser
import ModelStore
import RecordFormats

/// `consumers`: the durable readers of the change journal.
struct ConsumersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "consumers",
    abstract: "List the consumers of the journal, reset or drop them, and replay what failed.",
    subcommands: [
      ConsumersListCommand.self, ConsumersResetCommand.self, ConsumersDropCommand.self,
      ConsumersLettersCommand.self, ConsumersReplayCommand.self,
    ], defaultSubcommand: ConsumersListCommand.self)
}

/// `consumers list`: the position of each consumer.
struct ConsumersListCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the consumers.",
    discussion: "Example: storecli consumers list")

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var isPaged: Bool { true }

  func run(_ context: CommandContext) throws -> ExitCode {
    let store = try context.openForReading().store
    let consumers = try store.consumers()
    let isForPerson = context.format == .table
    try context.writeReport(
      of: "consumer",
      columns: [
        OutputColumn("consumer", role: .key), OutputColumn("position"), OutputColumn("lag"),
        OutputColumn("acknowledged"),
      ],
      rows: consumers.map { consumer in
        let time = consumer.acknowledgementTime.map {
          CellValue.text(isForPerson ? TimeText.ago($0) : TimeText.iso($0))
        }
        return [
          .text(consumer.name), .integer(consumer.position.rawValue), .integer(consumer.lag),
          time ?? .null,
        ]
      })
    let letterCount = try store.deadLetters().count
    if letterCount > 0 {
      try context.console.say(
        "\(Grouped.text(letterCount, "dead letter")) (\(Program.name) consumers letters)")
    }
    return .ok
  }
}
