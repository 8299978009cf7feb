import ArgumentParser
import ModelStore

/// `share`: makes the database the first member of a shared store.
struct ShareCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "share", abstract: "Share the database with other machines, through PostgreSQL.",
    discussion: """
      Example: STORECLI_LEDGER=postgresql://app@db/app storecli share music
      The database becomes the first member of a shared store, and the ledger in PostgreSQL gets a \
      copy of it. From then on the ledger has each commit first. Only programs with the ledger can \
      write. Other machines begin with storecli join. A command that changes the schema, such as \
      storecli migrate up, changes it for all members, and they begin again from the result. If \
      the command is stopped, run it again. storecli unshare takes it back.
      The change journal must be on, because other members report changes from it. \
      --without-journal shares the database all the same.
      """)

  @Argument(help: "The name of the shared store in the ledger.")
  var name: String

  @Flag(help: "Share it although other members then report resets instead of changes.")
  var withoutJournal = false

  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook()
    let ledger = try context.ledger(of: looked.location, store: name)
    if let present = try looked.store.sharedStoreName(), present == name {
      try context.console.say("\(looked.location.path) is a member of \(name) already")
      return .ok
    }
    guard try withoutJournal || !looked.store.changeJournal.status().details.isEmpty else {
      throw CommandError(
        .rejected, code: StoreError.Code.misuse.rawValue,
        "The change journal is off, so other members could not report what changes.",
        hint: "storecli journal on")
    }
    try looked.store.checkCanFound(ledger)
    looked.close()
    guard !change.dryRun else {
      try context.console.say("dry run: the database can be shared; nothing was changed")
      return .ok
    }
    let opened = try context.openMember(of: ledger, existing: .required)
    try context.console.say("\(opened.location.path) is the first member of \(name)")
    return .ok
  }
}
