import ModelStore

/// How an import writes one record of a model.
struct RecordWriting {
  /// What became of a record.
  enum Outcome {
    case inserted(DynamicRecord)
    case updated(DynamicRecord)
    /// The store has it, value for value.
    case unchanged(DynamicRecord)
    case skipped

    /// The record as it is stored; nil if the import does not write it.
    var record: DynamicRecord? {
      switch self {
      case .inserted(let record), .updated(let record), .unchanged(let record): record
      case .skipped: nil
      }
    }
  }

  let mode: ImportMode
  let identity: RecordIdentity

  private var schema: ModelSchema { identity.schema }

  func write(
    _ values: [String: SQLValue], _ transaction: borrowing WriteTransaction
  ) throws -> Outcome {
    guard mode.looksUp else { return .inserted(try transaction.insert(values, into: schema)) }
    let found = try identity.find(
      values, needsAll: mode == .updateOnly, transaction)
    guard let before = found else {
      return mode == .updateOnly
        ? .skipped : .inserted(try transaction.insert(values, into: schema))
    }
    guard mode != .skipExisting else { return .skipped }
    let changed = values.filter { before[$0] != $1 }
    // No statement, so that no trigger runs and no observer is notified.
    guard !changed.isEmpty else { return .unchanged(before) }
    try transaction.update(schema, key: before.key, set: changed)
    let key = zip(schema.key, before.key).map { name, old in values[name] ?? old }
    guard let after = try OpenedStore.reading({ try transaction.find(schema, key: key) }) else {
      throw StoreError(
        .recordNotFound, "\(schema.name): a trigger removed the record as it was updated.",
        model: schema.name, key: key)
    }
    return after == before ? .unchanged(after) : .updated(after)
  }
}
