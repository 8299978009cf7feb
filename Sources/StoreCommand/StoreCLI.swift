import ArgumentParser

/// The root of the command tree.
struct StoreCLI: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: Program.name,
    abstract: "Read and change the records of a store, its rules, bindings and history.",
    discussion: """
      The database is the one that -d names, else STORECLI_DB, else db = "PATH" in the nearest \
      storecli.toml. -d and the other common options may stand before or after the command.

      Try: storecli demo
      Topics: storecli help options, exit-codes, environment, formats, predicates
      """,
    version: "\(VersionCommand.program) \(VersionCommand.number)",
    groupedSubcommands: [
      CommandGroup(
        name: "Data",
        subcommands: [
          ModelsCommand.self, QueryCommand.self, GetCommand.self, InsertCommand.self,
          UpdateCommand.self, DeleteCommand.self, ReorderCommand.self, ImportCommand.self,
          ExportCommand.self,
        ]),
      CommandGroup(
        name: "Schema",
        subcommands: [
          MigrateCommand.self, RulesCommand.self, ValidateCommand.self, BindingsCommand.self,
          AdoptCommand.self, LeaveCommand.self, GenerateCommand.self,
        ]),
      CommandGroup(
        name: "History",
        subcommands: [
          WatchCommand.self, HistoryCommand.self, UndoCommand.self, RedoCommand.self,
          RevertCommand.self, JournalCommand.self, ConsumersCommand.self,
        ]),
      CommandGroup(
        name: "Shared stores",
        subcommands: [
          ShareCommand.self, JoinCommand.self, UnshareCommand.self, MembersCommand.self,
          LedgerCommand.self, MirrorCommand.self,
        ]),
      CommandGroup(
        name: "Maintenance",
        subcommands: [
          ShellCommand.self, DoctorCommand.self, BackupCommand.self, RestoreCommand.self,
          CompactCommand.self,
          DiffCommand.self, HashCommand.self, DemoCommand.self, CompletionsCommand.self,
          ManCommand.self, SpecCommand.self, VersionCommand.self,
        ]),
    ])
}

/// The command tree as shells complete it: the common options are offered before the command, too.
///
/// It parses only what the scripts of shells ask for. Elsewhere, ``LeadingOptions`` moves such
/// options behind the command, because a parent's options do not reach its subcommands.
struct CompletedCLI: ParsableCommand {
  static let configuration = StoreCLI.configuration

  @OptionGroup(title: "Common options") var options: GlobalOptions
}
