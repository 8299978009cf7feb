import ArgumentParser
import ModelStore

/// `undo`: takes back what this program did last.
typealias UndoCommand = SteppingCommand<UndoStep>

enum UndoStep: HistoryStep {
  static let configuration = CommandConfiguration(
    commandName: "undo", abstract: "Take back the last changes that storecli made.",
    discussion: """
      Example: storecli undo 2
      Each step is a new transaction, judged by all rules. Where somebody has changed the same \
      since, it is refused. --dry-run tells what all of them come to.
      """)

  static let verb = "undid"
  static var nothing: String {
    "There is nothing to undo: \(Program.name) made no change that holds."
  }

  static func take(in store: Store, mode: WriteMode) throws -> Reversal? {
    try store.undo(mode: mode)
  }

  static func preview(in store: Store, count: Int) throws -> ReversalPreview? {
    try store.previewUndo(count)
  }
}
