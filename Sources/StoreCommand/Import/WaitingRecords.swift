import ModelStore

/// The records of a transaction that refer to records which are not there yet. Those may come later
/// in the input, and may refer back.
struct WaitingRecords {
  typealias Item = Importing.Item

  private var items: [Item] = []

  var count: Int { items.count }

  /// Whether a record that was refused for `error` can be written once others are there.
  static func mayWait(_ error: any Error) -> Bool {
    guard let error = error as? StoreError, error.code == .rejected else { return false }
    return !error.violations.isEmpty && error.violations.allSatisfy { $0.kind == .reference }
  }

  mutating func add(_ item: Item) {
    items.append(item)
  }

  /// Some records cannot be written; nothing of the others is kept.
  private struct Refused: Error {
    var errors: [Int: any Error]
  }

  /// Writes all of them, with references checked at the end, or nothing.
  ///
  /// - Parameter write: Writes one record and returns its model and its key.
  /// - Returns: The records that cannot be written, with the reasons: they do not wait any more.
  ///   When it is empty, all others are written.
  mutating func write(
    in transaction: borrowing Transaction,
    _ write: (Item, borrowing Transaction) throws -> (model: String, key: [SQLValue])
  ) throws -> [(item: Item, error: any Error)] {
    try transaction.deferReferenceChecks()
    do {
      try transaction.savepoint { transaction in
        let written = try writeAll(in: transaction, write)
        try Self.checkReferences(of: written, in: transaction)
      }
      items = []
      return []
    } catch let refused as Refused {
      let found = refused.errors.sorted { $0.key < $1.key }
      defer { items = items.indices.filter { refused.errors[$0] == nil }.map { items[$0] } }
      return found.map { (items[$0.key], $0.value) }
    }
  }

  /// A rule that demands a reference is not deferred, so what it refuses is tried again for as long
  /// as that helps.
  ///
  /// - Returns: Models and keys by the places of the records.
  private func writeAll(
    in transaction: borrowing Transaction,
    _ write: (Item, borrowing Transaction) throws -> (model: String, key: [SQLValue])
  ) throws -> [Int: (model: String, key: [SQLValue])] {
    var written: [Int: (model: String, key: [SQLValue])] = [:]
    var left = Array(items.indices)
    while !left.isEmpty {
      var errors: [Int: any Error] = [:]
      for index in left {
        do {
          written[index] = try write(items[index], transaction)
        } catch let error as StoreError where RecordInput.refusals.contains(error.code) {
          errors[index] = error
        }
      }
      guard errors.count < left.count else { throw Refused(errors: errors) }
      left = errors.keys.sorted()
    }
    return written
  }

  private static func checkReferences(
    of written: [Int: (model: String, key: [SQLValue])], in transaction: borrowing Transaction
  ) throws {
    do {
      try transaction.checkReferences()
    } catch let error as StoreError where error.code == .rejected {
      struct Place: Hashable {
        let model: String
        let key: [SQLValue]?
      }
      let broken = Dictionary(grouping: error.violations) { Place(model: $0.model, key: $0.key) }
      var errors: [Int: any Error] = [:]
      for (index, place) in written {
        guard let own = broken[Place(model: place.model, key: place.key)] else { continue }
        var refusal = error
        refusal.violations = own
        refusal.key = place.key
        errors[index] = refusal
      }
      // Others may be broken that an import does not write.
      guard !errors.isEmpty else { throw error }
      throw Refused(errors: errors)
    }
  }
}
