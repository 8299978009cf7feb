import ArgumentParser

/// `ledger`: what keeps the commits of a shared store.
struct LedgerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ledger", abstract: "Ask the ledger of a shared store.",
    subcommands: [LedgerStatusCommand.self], defaultSubcommand: LedgerStatusCommand.self)
}
