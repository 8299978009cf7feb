import ArgumentParser
import ModelStore

/// `redo`: takes back an undo.
typealias RedoCommand = SteppingCommand<RedoStep>

enum RedoStep: HistoryStep {
  static let configuration = CommandConfiguration(
    commandName: "redo", abstract: "Do again what was undone last.",
    discussion: """
      Example: storecli redo
      Only until storecli makes another change; after that, storecli revert takes the undo back.
      """)

  static let verb = "redid"
  static var nothing: String {
    "There is nothing to redo: \(Program.name) undid nothing since its last change."
  }

  static func take(in store: Store, mode: WriteMode) throws -> Reversal? {
    try store.redo(mode: mode)
  }

  static func preview(in store: Store, count: Int) throws -> ReversalPreview? {
    try store.previewRedo(count)
  }
}
