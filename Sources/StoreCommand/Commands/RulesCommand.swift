import ArgumentParser

/// `rules`: the rules in the file, and the validators in Swift that the file records.
struct RulesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rules", abstract: "List, add, drop and repair rules.",
    subcommands: [
      RulesListCommand.self, RulesAddCommand.self, RulesDropCommand.self,
      RulesRebuildCommand.self,
    ], defaultSubcommand: RulesListCommand.self)
}
