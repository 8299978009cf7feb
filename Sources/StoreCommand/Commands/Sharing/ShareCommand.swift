import ArgumentParser
import ModelStore

/// `share`: makes the database the first member of a shared store.
struct ShareCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "share", abstract: "Share the database with other machines, through PostgreSQL.",
    discussion: """
      Example: STORECLI_LEDGER=postgresql://app@db/app storecli share music
      The database becomes the first member of a shared store, and the ledger in PostgreSQL gets a \
      copy of it. From then on the ledger has each commit first, its schema stays as it is, and \
      only programs with the ledger can write. Other machines begin with storecli join. If the \
      command is stopped, run it again. storecli unshare takes it back.
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
