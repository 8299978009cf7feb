/// A write transaction that runs one statement after the other, each with its own changes.
///
/// Create it inside the closure of a write, and use it on that thread until the closure ends. An
/// interactive session runs its transactions so. It holds the write lock of the file meanwhile.
package final class HeldTransaction {
  private let access: _TransactionAccess
  private let engine: StoreEngine

  /// - Parameter store: The store that runs `transaction`, by ``Store/writeReturningChanges(_:)``:
  ///   it captures every change.
  package init(_ transaction: borrowing WriteTransaction, of store: Store) throws {
    access = transaction.access
    engine = try store.open
  }

  /// Whether the transaction is still open. SQLite rolls it back when a trigger demands that, and
  /// when a statement that writes is interrupted: <https://sqlite.org/c3ref/interrupt.html>.
  package var isOpen: Bool { access.connection.isInTransaction }

  /// Runs `body` on the state of the transaction: it reads what the transaction has written.
  package func read<Result>(
    _ body: (borrowing ReadTransaction) throws -> Result
  ) throws -> Result {
    let reads = ReadTransaction(access: access)
    return try body(reads)
  }

  /// Runs `body` in a savepoint. If it throws, its changes are undone, and you can continue the
  /// transaction while ``isOpen`` holds. A preview is undone too.
  ///
  /// - Returns: What `body` changed, compared with the transaction before it.
  /// - Throws: What `body` throws.
  /// - Complexity: Reads every record that the transaction has touched.
  package func changes(
    mode: WriteMode, of body: (borrowing WriteTransaction) throws -> Void
  ) throws -> ChangeSet {
    struct Undone: Error {}
    let earlier = try netChanges()
    var step: [RecordChange] = []
    do {
      let transaction = WriteTransaction(access: access)
      try access.runner.savepoint {
        try body(transaction)
        step =
          TransactionStep(from: earlier, to: try netChanges(), in: access.models.schema)
          .changes
        if mode == .preview { throw Undone() }
      }
    } catch is Undone {
      // A preview is undone.
    }
    return ChangeSet(version: 0, changes: step)
  }

  /// Does what COMMIT would do before it writes: checks references and runs all validators.
  ///
  /// - Throws: What COMMIT would refuse. The transaction stays open, so you can correct it.
  package func judge() throws {
    do {
      if access.connection.hasUnresolvedReferences {
        throw try OpenWrite.brokenReferences(in: access)
      }
      try OpenWrite.judge(try netChanges(), in: access, by: engine.schema.validators)
    } catch let error as SQLiteError {
      throw access.models.storeError(error, about: nil)
    }
  }

  private func netChanges() throws -> [RecordChange] {
    try access.runner.capture?.netChanges(on: access.connection) { read in
      try engine.connections.snapshots.sync { snapshot in try read(snapshot) }
    } ?? []
  }
}

/// What one statement of a transaction changed: the difference between the net changes of the
/// transaction before and after it.
struct TransactionStep {
  private(set) var changes: [RecordChange] = []

  /// - Complexity: Linear in both lists.
  init(from earlier: [RecordChange], to later: [RecordChange], in schema: StoreSchema) {
    var before: [ChangedRecord: RecordChange] = [:]
    for change in earlier {
      before[ChangedRecord(model: change.model, key: change.recordKey)] = change
    }
    for change in later {
      let record = ChangedRecord(model: change.model, key: change.recordKey)
      guard let known = before.removeValue(forKey: record) else {
        changes.append(change)
        continue
      }
      add(change, from: known.new, to: change.new, in: schema)
    }
    // What the statement changed back to the state before the transaction is no net change now.
    for change in earlier {
      let record = ChangedRecord(model: change.model, key: change.recordKey)
      guard before[record] != nil else { continue }
      add(change, from: change.new, to: change.old, in: schema)
    }
  }

  /// Adds a record's change between two images, with the origins that `change` has.
  private mutating func add(
    _ change: RecordChange, from old: [SQLValue]?, to new: [SQLValue]?, in schema: StoreSchema
  ) {
    guard old != new else { return }
    var fields: [ChangedField] = []
    if let old, let new {
      let names = schema.models.first { $0.name == change.model }?.fields.map(\.name) ?? []
      for (index, name) in names.enumerated() where old[index] != new[index] {
        let known = change.fields.first { $0.name == name }
        fields.append(
          ChangedField(
            name: name, old: old[index], new: new[index], origin: known?.origin ?? change.origin,
            cause: known?.cause ?? change.cause))
      }
    }
    changes.append(
      RecordChange(
        model: change.model, key: change.key, old: old, new: new, fields: fields,
        origin: change.origin, cause: change.cause))
  }
}
