import ArgumentParser
import ModelStore

/// `redo`: takes back an undo.
struct RedoCommand: SteppingCommand {
  static let configuration = CommandConfiguration(
    commandName: "redo", abstract: "Do again what was undone last.",
    discussion: """
      Example: storecli redo
      Only until storecli makes another change; after that, storecli revert takes the undo back.
      """)

  @Argument(help: ArgumentHelp("How many transactions.", valueName: "count"))
  var count = 1

  @OptionGroup var write: WriteOptions
  @OptionGroup var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    try Reversing(verb: "redid", write: write) { store, isPreview in
      try store.redo(isPreview: isPreview)
    } previews: { store, count in
      try store.previewRedo(count)
    }
    .run(
      times: count,
      nothing: "There is nothing to redo: \(Program.name) undid nothing since its last change.",
      context)
  }
}
