import ArgumentParser
import ModelStore

/// `redo`: takes back an undo.
typealias RedoCommand = SteppingCommand<RedoStep>

enum RedoStep: HistoryStep {
  static let configuration = CommandConfiguration(
    commandName: "redo", abstract: "Repeat the last change that you undid.",
    discussion: """
      Example: storecli redo
      Works until storecli makes another change. After that, use storecli revert to take the undo \
      back.
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
