import ArgumentParser

/// `rules`: the rules in the file, and the rules in Swift that it knows of.
struct RulesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rules", abstract: "List the rules of a store, add, drop and mend them.",
    subcommands: [
      RulesListCommand.self, RulesAddCommand.self, RulesDropCommand.self,
      RulesRebuildCommand.self,
    ], defaultSubcommand: RulesListCommand.self)
}
