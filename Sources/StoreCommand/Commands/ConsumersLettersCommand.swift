import ArgumentParser
import ModelStore
import RecordFormats

/// `consumers letters`: the changes that workers gave up on.
struct ConsumersLettersCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "letters",
    abstract: "List the dead letters: changes that a worker gave up on.",
    discussion: """
      Example: storecli consumers letters search-index
      A worker of a service tries a change several times. If it always fails, the change becomes a \
      dead letter, and the worker goes on. Replay it when the cause is repaired.
      """)

  @Argument(
    help: "The consumer's name; all consumers if you leave it out.",
    completion: Completion.consumer)
  var name: String?

  @OptionGroup(title: "Common options") var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    let letters = try context.openForReading().store.deadLetters(of: name)
    let isForPerson = context.format == .table
    try context.writeReport(
      of: "dead letter",
      columns: [
        OutputColumn("consumer", role: .key), OutputColumn("position"), OutputColumn("model"),
        OutputColumn("id"), OutputColumn("op"), OutputColumn("attempts"), OutputColumn("failed"),
        OutputColumn("replay"), OutputColumn("error"),
      ],
      rows: letters.map { letter in
        let time =
          isForPerson ? TimeText.ago(letter.failedAt) : TimeText.iso(letter.failedAt)
        return [
          .text(letter.consumer), .integer(letter.change.position.rawValue),
          .text(letter.change.model), .text(KeyText.text(letter.change.key)),
          .text(letter.change.operation.rawValue), .integer(Int64(letter.attemptCount)),
          .text(time), .text(letter.isWaitingForReplay ? "requested" : "-"), .text(letter.error),
        ]
      })
    return .ok
  }
}
