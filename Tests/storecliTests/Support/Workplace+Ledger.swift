import ModelStore
import Testing

@testable import StoreCommand

extension Workplace {
  /// Runs a command whose `STORECLI_LEDGER` is `memory`.
  func run(_ words: [String], with ledger: MemoryLedger) throws -> Outcome {
    try run(
      Program(arguments: words) { connection, store in
        #expect(connection == "memory")
        return ledger.shared(as: store)
      })
  }
}
