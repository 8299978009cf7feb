import ArgumentParser
import ModelStore
import RecordFormats

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
