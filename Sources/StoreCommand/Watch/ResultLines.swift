import ModelStore

/// The lines of `watch` for one event of a live result.
struct ResultLines {
  private let changes: QueryChanges<DynamicRecord>
  private let schema: ModelSchema
  private let includesIndices: Bool
  private let tellsPassages: Bool
  private let now = TimeText.now

  /// - Parameter includesIndices: Whether to print indices.
  init(_ changes: QueryChanges<DynamicRecord>, of schema: ModelSchema, includesIndices: Bool) {
    self.changes = changes
    self.schema = schema
    self.includesIndices = includesIndices
    // Commits of other programs are refetched, so the reason why a row came or went is unknown.
    tellsPassages = includesIndices && (changes.isInitial || !changes.isReset)
  }

  var all: [WatchedChange] { deletions + insertions + updates + moves }

  private var deletions: [WatchedChange] {
    changes.deletions.map { deletion in
      let fields = deletion.record.map { record in
        zip(schema.fields, record.values).map {
          ChangeLine.Field(name: $0.name, old: $1, new: nil)
        }
      }
      var line = line(
        .delete, deletion.key, fields ?? [], deletion.origin, at: .init(old: deletion.index))
      line.passage = tellsPassages ? deletion.reason == .filter ? .left : .within : nil
      line.place?.hasSlid = deletion.reason == .slid
      return line
    }
  }

  private var insertions: [WatchedChange] {
    changes.insertions.map { insertion in
      let fields = zip(schema.fields, insertion.record.values).map {
        ChangeLine.Field(name: $0.name, old: nil, new: $1)
      }
      var line = line(
        .insert, insertion.key, fields, insertion.origin, at: .init(new: insertion.index))
      line.isSnapshot = changes.isInitial
      line.place?.hasSlid = insertion.reason == .slid
      let hasEntered = insertion.reason == .filter && !changes.isInitial
      line.passage = tellsPassages ? hasEntered ? .entered : .within : nil
      return line
    }
  }

  private var updates: [WatchedChange] {
    // Sorted by index, since each record has its own.
    let moved = Set(changes.moves.map(\.newIndex))
    return changes.updates.map { update in
      let fields = update.fields.map {
        ChangeLine.Field(name: $0.name, old: $0.old, new: $0.new)
      }
      return line(
        .update, update.key, fields, update.fields.first?.origin ?? .foreign,
        at: .init(
          old: update.oldIndex, new: update.newIndex, isMoved: moved.contains(update.newIndex)))
    }
  }

  /// Records that only moved.
  private var moves: [WatchedChange] {
    let updated = Set(changes.updates.map(\.newIndex))
    return changes.moves.filter { !updated.contains($0.newIndex) }.map { move in
      line(
        .update, move.key, [], .foreign,
        at: .init(old: move.oldIndex, new: move.newIndex, isMoved: true))
    }
  }

  private func line(
    _ operation: RecordChange.Operation, _ key: [SQLValue], _ fields: [ChangeLine.Field],
    _ origin: Origin, at place: WatchedChange.Place
  ) -> WatchedChange {
    WatchedChange(
      change: ChangeLine(
        operation: operation, model: schema.name, key: key, fields: fields, origin: origin,
        schema: schema),
      logged: nil, place: includesIndices ? place : nil, passage: tellsPassages ? .within : nil,
      time: now)
  }
}
