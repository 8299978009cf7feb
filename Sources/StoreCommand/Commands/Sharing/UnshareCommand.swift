import ArgumentParser
import ModelStore

/// `unshare`: makes a member an ordinary database again.
struct UnshareCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "unshare", abstract: "Make a member of a shared store an ordinary database again.",
    discussion: """
      Example: storecli unshare -d music.db
      First the database gets what other members have committed, so it needs the ledger. Then it \
      leaves: its schema can change, and every program can write. The ledger keeps the shared \
      store, and its other members go on. Programs that have the database open must open it again.
      If the ledger is lost, --offline keeps what the database has. Commits that it had not \
      received stay away.
      """)

  @Flag(help: "Leave without asking the ledger for newer commits.")
  var offline = false

  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openForReading()
    let name = try looked.store.sharedStoreName()
    looked.close()
    guard let name else {
      try context.console.say("\(looked.location.path) is not a member of a shared store")
      return .ok
    }
    let ledger = offline ? nil : try context.ledger(of: looked.location, store: name)
    guard !change.dryRun else {
      if let ledger, try !ledger.hasStore() { throw Self.lost(name) }
      try context.console.say("dry run: it would leave \(name); nothing was changed")
      return .ok
    }
    let opened = try context.openMember(of: ledger, existing: .required)
    let number = try opened.store.leaveSharedStore()
    try context.console.say("\(opened.location.path) left \(name) after its commit \(number)")
    return .ok
  }

  private static func lost(_ name: String) -> CommandError {
    CommandError(
      .notFound, code: StoreError.Code.ledgerLostCommits.rawValue,
      "The ledger has no shared store \(name).", hint: "storecli unshare --offline")
  }
}
