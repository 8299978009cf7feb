#if Postgres
  import LedgerConformance
  import ModelStore
  import Testing

  @testable import ModelStorePostgres

  /// The laws of ledgers, on a real server.
  @Suite(
    .tags(.process), .ownThreads, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL's programs are missing."))
  struct PostgresLedgerTests {
    private let server: PostgresServer

    init() throws {
      server = try PostgresServer.shared.get()
    }

    @Test(arguments: LedgerLaw.all) func everyLawOfLedgersHolds(_ law: LedgerLaw) throws {
      let server = server
      try law.check(LedgerWorld { try server.ledger("\(law)") })
    }
  }
#endif
