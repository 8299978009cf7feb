import ArgumentParser
import ModelStore

/// `join`: makes a database that is a member of a shared store.
struct JoinCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "join", abstract: "Make a database that is a member of a shared store.",
    discussion: """
      Example: STORECLI_LEDGER=postgresql://app@db/app storecli join music -d music.db
      The path must be free. The new member begins from the ledger's snapshot and gets the commits \
      since then.
      """)

  @Argument(help: "The name of the shared store in the ledger.")
  var name: String

  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let location = try context.location()
    guard !location.exists else {
      throw CommandError(
        .failed, code: StoreError.Code.fileExists.rawValue,
        "There is already a file at \(location.path), and a new member needs a free path.",
        hint: "storecli join \(Shell.quoted(name)) -d PATH")
    }
    let ledger = try context.ledger(of: location, store: name)
    guard try ledger.hasStore() else {
      throw CommandError(
        .notFound, code: StoreError.Code.configurationConflict.rawValue,
        "The ledger has no shared store \(name).", hint: "storecli share \(Shell.quoted(name))")
    }
    guard !change.dryRun else {
      try context.console.say("dry run: \(name) can be joined; nothing was written")
      return .ok
    }
    let opened = try context.openMember(of: ledger, existing: .created)
    try opened.store.refresh()
    try context.console.say("\(location.path) is a member of \(name)")
    return .ok
  }
}
