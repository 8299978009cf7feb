import ArgumentParser
import ModelStore

/// `revert`: takes back one transaction of any program that uses ModelStore.
struct RevertCommand: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "revert", abstract: "Take back the changes of one transaction.",
    discussion: """
      Example: storecli revert 4zsx2q --dry-run
      storecli history shows the id. If later transactions changed the same fields, the command \
      lists the conflicts and changes nothing.
      """)

  @Argument(help: ArgumentHelp("The transaction's id.", valueName: "txn"))
  var transaction: String

  @OptionGroup var write: WriteOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var takesFields: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let id = try TransactionID(argument: transaction)
    do {
      return try Reversing(verb: "reverted", command: "revert \(id)", write: write) { store, mode in
        try store.revert(id, mode: mode)
      }
      .run(nothing: "The transaction \(id) changed nothing.", context)
    } catch let error as StoreError
      where error.code == .unknownTransaction && Int64(transaction) != nil
    {
      throw CommandError(
        .notFound, code: error.code.rawValue,
        "\(transaction) is a position, not a transaction. Pass the txn of its entry.",
        hint: "storecli history --diff")
    }
  }
}
