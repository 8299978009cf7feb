import ArgumentParser
import ModelStore
import RecordFormats

/// `ledger`: what keeps the commits of a shared store.
struct LedgerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ledger", abstract: "Ask the ledger of a shared store.",
    subcommands: [LedgerStatusCommand.self], defaultSubcommand: LedgerStatusCommand.self)
}

/// `ledger status`: where a member and its ledger stand.
struct LedgerStatusCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show where the database and its ledger stand.",
    discussion: """
      Example: storecli ledger status -d music.db
      Prints the newest commit of the database, how many the ledger has after it, and what a commit \
      survives: replicated survives the loss of the ledger's machine, local its crash, none \
      neither. Exits with 2 if the database cannot be written now, and says why.
      """)

  @OptionGroup(title: "Common options") var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    let health = try context.memberHealth()
    try context.writeReport(
      of: "ledger",
      columns: [
        OutputColumn("store", role: .key), OutputColumn("commit"), OutputColumn("behind"),
        OutputColumn("durability"), OutputColumn("obstacle", role: .whole),
      ],
      rows: [
        [
          .text(health.store), .integer(health.commitNumber),
          health.lag.map { .integer($0) } ?? .null, health.durability.map { .text($0) } ?? .null,
          health.obstacle.map { .text($0) } ?? .null,
        ]
      ])
    return health.obstacle == nil ? .ok : .found
  }
}

/// `members`: the members of a shared store.
struct MembersCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "members", abstract: "List the members of a shared store.",
    discussion: """
      Example: storecli members -d music.db
      Prints each member that the ledger has noted within 30 days, and how many commits it had to \
      apply then. The database is marked as here.
      """)

  @OptionGroup(title: "Common options") var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    let health = try context.memberHealth()
    guard let lag = health.lag else {
      throw CommandError(
        .failed, code: StoreError.Code.ledgerUnavailable.rawValue,
        health.obstacle ?? "The ledger did not answer.", hint: "storecli help environment")
    }
    var lags = health.memberLags
    lags[health.member] = lag
    try context.writeReport(
      of: "member",
      columns: [
        OutputColumn("member", role: .key), OutputColumn("behind"), OutputColumn("place"),
      ],
      rows: lags.sorted { $0.key < $1.key }.map { member, lag in
        [.text(member), .integer(lag), member == health.member ? .text("here") : .null]
      })
    return .ok
  }
}

extension CommandContext {
  /// The part of the database in a shared store, which its ledger is asked about.
  ///
  /// - Throws: ``CommandError`` if it is not a member.
  fileprivate func memberHealth() throws -> MemberHealth {
    let opened = try openToAskLedger()
    defer { opened.store.close() }
    guard let health = try opened.store.memberHealth() else {
      throw CommandError(
        .notFound, code: StoreError.Code.misuse.rawValue,
        "\(opened.location.path) is not a member of a shared store.", hint: "storecli share NAME")
    }
    return health
  }
}
