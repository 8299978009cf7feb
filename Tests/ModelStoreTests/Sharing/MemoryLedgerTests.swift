import LedgerConformance
import ModelStore
import Synchronization
import Testing

@Suite(.tags(.unit), .ownThreads, .timeLimit(.minutes(30))) struct MemoryLedgerTests {
  @Test(arguments: LedgerLaw.all) func everyLawOfLedgersHolds(_ law: LedgerLaw) throws {
    let ledger = MemoryLedger()
    try law.check(LedgerWorld { ledger })
  }

  @Test func aTestDecidesWhereItFails() throws {
    let failing = Mutex<MemoryLedger.Step?>(nil)
    let ledger = MemoryLedger { step in
      if failing.withLock({ $0 == step }) { throw LedgerError.unreachable("\(step)") }
    }
    let world = LedgerWorld { ledger }
    _ = try world.founded()
    let transaction = TransactionID.make(first: nil)
    for step in [MemoryLedger.Step.append, .appended] {
      failing.withLock { $0 = step }
      #expect(throws: LedgerError.unreachable("\(step)")) {
        try ledger.commit(transaction: transaction)
      }
      failing.withLock { $0 = nil }
      let number = try ledger.resolve(transaction, deadline: .seconds(60))
      #expect(number == (step == .append ? nil : CommitNumber(rawValue: 1)))
    }
  }
}
