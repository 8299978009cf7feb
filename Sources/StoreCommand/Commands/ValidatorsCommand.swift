import ArgumentParser

/// `validators`: the rules in the file, and the rules in Swift that it knows of.
struct ValidatorsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "validators", abstract: "List the rules of a store, add, drop and mend them.",
    subcommands: [
      ValidatorsListCommand.self, ValidatorsAddCommand.self, ValidatorsDropCommand.self,
      ValidatorsRebuildCommand.self,
    ], defaultSubcommand: ValidatorsListCommand.self)
}
