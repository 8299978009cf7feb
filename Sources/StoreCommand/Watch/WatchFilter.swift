import ModelStore

/// Holds what the journal tells against a predicate: which records met it before and after each
/// change.
///
/// The journal has only the fields that changed, so the records are read as they were at the end of
/// a stretch of it and led back from there.
struct WatchFilter {
  /// Some changes cannot be held against the predicate.
  struct Gap: Error {
    let reason: String
  }

  /// A change as it looks to who sees only the records that meet the predicate.
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

  /// What the changes of the model come to, by their positions; without those of records that did
  /// not meet the predicate, before or after.
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

  /// What the record was before `change`, given what it was after it.
  private func image(before change: JournalChange, after: [SQLValue]?) throws -> [SQLValue]? {
    let gap = Gap(reason: "the journal does not tell how \(schema.name) changed there")
    guard change.detail == .full, (after == nil) == (change.operation == .delete) else { throw gap }
    // Where the journal was off for a while, the record was something else in between.
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
    // Of a composite key the field that tells the most records apart; the others are looked over.
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
      // Where only SQLite can compare keys, all records are read.
      if ConditionEvaluator(condition, schema: schema) != nil { query.condition = condition }
      for record in try store.fetch(query, at: position) where keys.contains(record.key) {
        images[record.key] = record.values
      }
    }
    return images
  }

  /// Keys that are asked for at once; SQLite takes at most 32,766 arguments.
  private static let maxKeyCount = 10_000
}
