package import ModelStore

/// A store of deposits that are written in order, so that what a file holds after a fault can be
/// compared with what its writer acknowledged.
///
/// Transaction `n` inserts the deposits `n` and `-n`. A sound file holds exactly the transactions
/// `1...m` for some `m`, whole, with the balances and the journal entries that belong to them.
package struct Ledger {
  package static let accountCount: Int64 = 5

  package let store: Store

  /// Opens the ledger at `path` and creates it when it is missing.
  ///
  /// - Parameter configuration: Durability, checkpoints and file system; the ledger adds a journal.
  package init(at path: String, configuration: StoreConfiguration = StoreConfiguration()) throws {
    var configuration = configuration
    configuration.changeJournal = .full
    configuration.busyTimeout = .seconds(60)
    store = try Store(
      at: path, models: Account.self, Deposit.self,
      bindings: [
        .aggregate(.sum(\Deposit.amount), into: \Account.balance, through: \Deposit.accountID)
      ],
      configuration: configuration)
    if try store.find(Account.self, 0) == nil {
      try store.write { tx in
        for id in 0..<Self.accountCount { try tx.insert(Account(id: id)) }
      }
    }
  }

  /// The number of the newest transaction; 0 when there is none.
  package func newestNumber() throws -> Int64 {
    try store.fetch(Deposit.all.order { $0.id.descending }.limit(1)).first?.id ?? 0
  }

  package func write(_ number: Int64) throws {
    try store.write { tx in
      try tx.insert(Deposit(id: number))
      try tx.insert(Deposit(id: -number))
    }
  }

  /// What contradicts a ledger whose writer acknowledged the transactions up to `acknowledged`.
  ///
  /// - Parameter unacknowledgedMax: How many more transactions than that may be there.
  /// - Returns: One sentence for each contradiction; empty for a sound ledger.
  package func findings(
    acknowledged: Int64, unacknowledgedMax: Int64 = .max
  ) throws -> [String] {
    let deposits = try store.fetch(Deposit.all)
    let count = Int64(deposits.count / 2)
    var findings = try store.checkIntegrity()
    let expected = (-count...count).filter { $0 != 0 }.map { Deposit(id: $0) }
    if deposits != expected { findings.append("the deposits are not those of 1...\(count)") }
    if count < acknowledged {
      findings.append("lost: \(acknowledged) were acknowledged, \(count) are there")
    }
    if count > acknowledged, count - acknowledged > unacknowledgedMax {
      findings.append("\(count) are there, although only \(acknowledged) were acknowledged")
    }
    var balances = [Int64](repeating: 0, count: Int(Self.accountCount))
    for deposit in expected { balances[Int(deposit.accountID)] += deposit.amount }
    let accounts = try store.fetch(Account.all)
    if !accounts.isEmpty || count > 0, accounts.map(\.balance) != balances {
      findings.append("the balances are \(accounts.map(\.balance)) instead of \(balances)")
    }
    findings += try store.bindingFindings().map { "binding: \($0)" }
    let recorded = try store.changeJournal.transactions().compactMap { transaction in
      transaction.changes.filter { $0.model == "Deposit" }.map(\.key)
    }.filter { !$0.isEmpty }
    let wanted: [[[SQLValue]]] =
      count == 0
      ? [] : (1...count).map { [[.integer($0)], [.integer(-$0)]] }
    if recorded != wanted {
      findings.append(
        "the journal has \(recorded.count) transactions instead of those of 1...\(count)")
    }
    return findings
  }
}
