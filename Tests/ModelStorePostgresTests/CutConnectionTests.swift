#if Postgres
  import LedgerConformance
  import ModelStore
  import Testing

  @testable import ModelStorePostgres

  /// What a member knows of its commit when the connection is cut.
  @Suite(
    .tags(.process), .ownThreads, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL's programs are missing."))
  struct CutConnectionTests {
    private let server: PostgresServer
    private let proxy: CuttingProxy

    init() throws {
      server = try PostgresServer.shared.get()
      proxy = try CuttingProxy(of: server)
    }

    private func cutLedger(_ store: String) throws -> PostgresLedger {
      try PostgresLedger(
        connection: server.connection(host: proxy.directory), store: store, limits: Limits())
    }

    enum Outcome: Hashable {
      case acknowledged, unknown, refused
    }

    /// Appends a commit whose connection is cut, and checks what the member then learns.
    ///
    /// - Returns: The outcome, and whether the ledger has the commit.
    private func append(
      _ cut: CuttingProxy.Cut, _ ledger: PostgresLedger, _ witness: PostgresLedger
    ) throws -> (outcome: Outcome, isThere: Bool) {
      let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
      let commit = turn.head.next([1, 2, 3])
      proxy.plan(cut)
      var outcome = Outcome.acknowledged
      do {
        try turn.append(commit)
      } catch LedgerError.outcomeUnknown(let transaction) {
        #expect(transaction == commit.transaction)
        outcome = .unknown
      } catch let error as LedgerError {
        #expect(error == .unreachable(error.message))
        outcome = .refused
      }
      proxy.plan(nil)
      let found = try ledger.resolve(commit.transaction, deadline: .seconds(60))
      let truth = try witness.commits(
        after: CommitNumber(rawValue: turn.head.number.rawValue), limit: 9)
      #expect(truth == (found == nil ? [] : [commit]))
      #expect(found == nil || found == commit.number)
      return (outcome, found != nil)
    }

    @Test(arguments: [CuttingProxy.Direction.toServer, .toClient])
    func anUnknownOutcomeIsResolvedWhereverTheConnectionIsCut(
      _ direction: CuttingProxy.Direction
    ) throws {
      let store = "cut \(direction)"
      let witness = try server.ledger(store)
      #expect(try witness.found(LedgerWorld.founding(), snapshot: PartsSource([[1]])))
      let ledger = try cutLedger(store)
      // Once without a cut, with the statements prepared, to count the bytes.
      for _ in 0..<2 {
        let turn = try ledger.turn(after: .founding, deadline: .seconds(60))
        proxy.plan(nil)
        try turn.append(turn.head.next([1, 2, 3]))
        // So that the bytes of the notification are counted, too.
        _ = try ledger.resolve(.make(first: nil), deadline: .seconds(60))
      }
      var outcomes: [Outcome: [Bool: Int]] = [:]
      let length = try fullLength(direction, ledger)
      for byteCount in 0..<length {
        let cut = CuttingProxy.Cut(direction: direction, byteCount: byteCount)
        let (outcome, isThere) = try append(cut, ledger, witness)
        outcomes[outcome, default: [:]][isThere, default: 0] += 1
      }
      print("cuts \(direction): \(length) bytes, \(outcomes)")
      // An acknowledged commit is there, and a refused one is not. Unknown ones were of both kinds.
      #expect(outcomes[.acknowledged]?[false] == nil)
      #expect(outcomes[.refused]?[true] == nil)
      #expect(outcomes[.unknown]?[true] ?? 0 > 0)
      #expect((outcomes[.unknown]?[false] ?? 0 > 0) == (direction == .toServer))
    }

    /// The bytes of an append in a direction, on a connection that prepares its statements anew.
    private func fullLength(
      _ direction: CuttingProxy.Direction, _ ledger: PostgresLedger
    ) throws -> Int {
      let fresh = try cutLedger(ledger.store)
      let turn = try fresh.turn(after: .founding, deadline: .seconds(60))
      proxy.plan(nil)
      try turn.append(turn.head.next([1, 2, 3]))
      let counts = proxy.counts
      #expect(counts.sent > 100 && counts.received > 50, "\(counts)")
      return direction == .toServer ? counts.sent : counts.received
    }
  }
#endif
