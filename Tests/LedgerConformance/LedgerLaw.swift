import ModelStore

/// What holds for every ledger. A check throws ``Breach`` if it does not hold.
package struct LedgerLaw: Sendable, CustomStringConvertible {
  /// A sentence about what holds.
  package let description: String
  package let check: @Sendable (LedgerWorld) throws -> Void

  package static let all = turns + outcomes + content + snapshots + schemas

  init(_ description: String, _ check: @escaping @Sendable (LedgerWorld) throws -> Void) {
    self.description = description
    self.check = check
  }

  /// What a ledger did that it must not do.
  package struct Breach: Error, CustomStringConvertible {
    package let description: String
  }
}

/// Throws ``LedgerLaw/Breach`` if both differ.
func expect<Value: Equatable>(_ found: Value, equals wanted: Value, _ subject: String) throws {
  guard found != wanted else { return }
  throw LedgerLaw.Breach(description: "\(subject): found \(found), not \(wanted)")
}

/// Throws ``LedgerLaw/Breach`` unless `body` throws an error of the wanted kind.
func expect<Result>(
  _ kind: (String) -> LedgerError, _ subject: String, _ body: () throws -> Result
) throws {
  do {
    _ = try body()
  } catch let error as LedgerError where error == kind(error.message) {
    return
  }
  throw LedgerLaw.Breach(description: "\(subject): no error, not \(kind("…"))")
}
