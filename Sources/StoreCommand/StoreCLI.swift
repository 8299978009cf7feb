import ArgumentParser

/// The root of the command tree.
struct StoreCLI: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: Program.name,
    abstract: "Look into a store and change it: records, rules, bindings.",
    discussion: """
      The database is the one that -d names, else STORECLI_DB, else db = "PATH" in the nearest \
      storecli.toml. Data goes to standard output, talk to standard error.

      Topics: storecli help exit-codes, environment, formats, predicates
      """,
    version: "\(VersionCommand.program) \(VersionCommand.number)",
    subcommands: [
      ModelsCommand.self, QueryCommand.self, GetCommand.self, InsertCommand.self,
      UpdateCommand.self, DeleteCommand.self, ValidateCommand.self, ValidatorsCommand.self,
      BindingsCommand.self, WatchCommand.self, HistoryCommand.self, UndoCommand.self,
      RedoCommand.self, RevertCommand.self, JournalCommand.self, ConsumersCommand.self,
      ImportCommand.self, ExportCommand.self, HashCommand.self, AdoptCommand.self,
      LeaveCommand.self, DoctorCommand.self, DemoCommand.self, CompletionsCommand.self,
      VersionCommand.self,
    ])
}
