import ArgumentParser
import ModelStore
import RecordFormats

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
