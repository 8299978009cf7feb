/// How a command uses the store that a session keeps open.
enum StoreUse {
  /// It opens the file itself, in its own way. The session closes its store first, and opens it
  /// again for a later command.
  case own
  /// It uses the session's store, between transactions.
  case kept
  /// As `kept`, and it also runs in an open transaction.
  case transaction

  init(of command: any LeafCommand) {
    self =
      switch command {
      case is QueryCommand, is GetCommand, is InsertCommand, is UpdateCommand, is DeleteCommand,
        is ReorderCommand:
        .transaction
      case is ModelsCommand, is HistoryCommand, is UndoCommand, is RedoCommand, is RevertCommand,
        is ValidateCommand, is HashCommand, is ExportCommand, is RulesListCommand,
        is BindingsListCommand, is BindingsWhyCommand, is JournalStatusCommand,
        is ConsumersListCommand, is VersionCommand:
        .kept
      default: .own
      }
  }
}
