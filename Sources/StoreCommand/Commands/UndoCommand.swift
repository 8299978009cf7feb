import ArgumentParser
import ModelStore

/// `undo`: takes back what this program did last.
struct UndoCommand: SteppingCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo", abstract: "Take back the last changes that storecli made.",
    discussion: """
      Example: storecli undo 2
      Each step is a new transaction, judged by all rules. Where somebody has changed the same \
      since, it is refused. --dry-run tells what all of them come to.
      """)

  @Argument(help: ArgumentHelp("How many transactions.", valueName: "count"))
  var count = 1

  @OptionGroup var write: WriteOptions
  @OptionGroup var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    try Reversing(verb: "undid", write: write) { store, isPreview in
      try store.undo(isPreview: isPreview)
    } previews: { store, count in
      try store.previewUndo(count)
    }
    .run(
      times: count, nothing: "There is nothing to undo: \(Program.name) made no change that holds.",
      context)
  }
}
