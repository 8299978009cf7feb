import ModelStore

/// Compares the changes of the journal with a predicate: which records met it before and after each
/// change.
///
/// The journal has only the changed fields. So the records are read as of the end of a part of the
/// journal, and the changes are undone in memory from there.
struct WatchFilter {
  /// Some changes cannot be compared with the predicate.
  struct Gap: Error {
    let reason: String
  }

  /// A change, seen through the predicate.
  struct Step {
    let operation: RecordChange.Operation
    let fields: [ChangeLine.Field]
    let passage: WatchedChange.Passage
  }

  let schema: ModelSchema
  private let meets: ConditionEvaluator

  /// - Returns: nil when only SQLite can evaluate the predicate.
  init?(_ condition: Condition, schema: ModelSchema) {
    guard let evaluator = ConditionEvaluator(condition, schema: schema) else { return nil }
    meets = evaluator
    self.schema = schema
  }

  /// The filtered changes of the model by position, without changes of records that did not meet
  /// the predicate before or after.
  ///
  /// - Throws: ``Gap``; ``StoreError``.
  func steps(
    of transactions: [JournalTransaction], in store: Store
  ) throws -> [JournalPosition: Step] {
    let changes = transactions.flatMap { transaction in
      transaction.changes.filter { $0.model == schema.name }
    }
    guard let end = transactions.last?.positions.upperBound, !changes.isEmpty else { return [:] }
    var images: [[SQLValue]: [SQLValue]]
    do {
      images = try self.images(of: Set(changes.map(\.key)), at: end, in: store)
    } catch let error as StoreError where error.code == .journalGap {
      throw Gap(reason: error.message)
    }
    var steps: [JournalPosition: Step] = [:]
    for change in changes.reversed() {
      let after = images[change.key]
      let before = try image(before: change, after: after)
      images[change.key] = before
      steps[change.position] = step(change, from: before, to: after)
    }
    return steps
  }

  private func step(
    _ change: JournalChange, from before: [SQLValue]?, to after: [SQLValue]?
  ) -> Step? {
    let old = before.flatMap { meets($0) == true ? $0 : nil }
    let new = after.flatMap { meets($0) == true ? $0 : nil }
    switch (old, new) {
    case (nil, nil): return nil
    case (nil, let new?):
      return Step(
        operation: .insert,
        fields: zip(schema.fields, new).map { .init(name: $0.name, old: nil, new: $1) },
        passage: before == nil ? .within : .entered)
    case (let old?, nil):
      return Step(
        operation: .delete,
        fields: zip(schema.fields, old).map { .init(name: $0.name, old: $1, new: nil) },
        passage: after == nil ? .within : .left)
    case (_?, _?):
      return Step(
        operation: .update,
        fields: change.fields.map { .init(name: $0.name, old: $0.old, new: $0.new) },
        passage: .within)
    }
  }

  /// The record before `change`, given the record after it.
  private func image(before change: JournalChange, after: [SQLValue]?) throws -> [SQLValue]? {
    let gap = Gap(reason: "the journal does not record how \(schema.name) changed there")
    guard change.detail == .full, (after == nil) == (change.operation == .delete) else { throw gap }
    // While the journal was off, the record had other values.
    let isWhole = change.fields.allSatisfy { field in
      guard let after, let index = schema.fieldIndex(named: field.name) else { return true }
      return after[index] == field.new
    }
    guard isWhole else { throw gap }
    switch change.operation {
    case .insert: return nil
    case .update:
      var image = after
      for field in change.fields {
        guard let index = schema.fieldIndex(named: field.name), let old = field.old else {
          continue
        }
        image?[index] = old
      }
      return image
    case .delete:
      var image = [SQLValue](repeating: .null, count: schema.fields.count)
      for (index, value) in zip(schema.keyIndices, change.key) { image[index] = value }
      for field in change.fields {
        if let index = schema.fieldIndex(named: field.name), let old = field.old {
          image[index] = old
        }
      }
      return image
    }
  }

  /// The records of `keys` as they were at `position`.
  private func images(
    of keys: Set<[SQLValue]>, at position: JournalPosition, in store: Store
  ) throws -> [[SQLValue]: [SQLValue]] {
    // For a composite key, search by the field with the most distinct values and compare the
    // others.
    let choices = schema.keyIndices.indices.map { place in Set(keys.map { $0[place] }) }
    guard let place = choices.indices.max(by: { choices[$0].count < choices[$1].count }) else {
      return [:]
    }
    let values = Array(choices[place])
    var images: [[SQLValue]: [SQLValue]] = [:]
    for start in stride(from: 0, to: values.count, by: Self.maxKeyCount) {
      let some = Array(values[start..<min(start + Self.maxKeyCount, values.count)])
      let condition = Condition.isIn(.field(schema.keyIndices[place]), some)
      var query = StoreQuery<DynamicRecord>(schema)
      // If only SQLite can compare the keys, read all records.
      if ConditionEvaluator(condition, schema: schema) != nil { query.condition = condition }
      for record in try store.fetch(query, at: position) where keys.contains(record.key) {
        images[record.key] = record.values
      }
    }
    return images
  }

  /// The number of keys in one query; SQLite takes at most 32,766 arguments.
  private static let maxKeyCount = 10_000
}
