import ArgumentParser
import ModelStore

/// `undo`: takes back the last changes of this program.
typealias UndoCommand = SteppingCommand<UndoStep>

enum UndoStep: HistoryStep {
  static let configuration = CommandConfiguration(
    commandName: "undo", abstract: "Take back the last changes that storecli made.",
    discussion: """
      Example: storecli undo 2
      Each step is a new transaction, and all rules apply. If another transaction has changed the \
      same fields since, undo refuses the step. --dry-run shows the net result of all steps.
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
