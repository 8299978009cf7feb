import ModelStore

/// Which changes of the journal are watched, and whether they are coalesced.
struct WatchSelection {
  /// A unit of work: the changes of one transaction, or one change of a program without ModelStore.
  struct Group {
    /// The position of its last entry.
    let end: JournalPosition
    /// The gaps before the changes.
    var gaps: [StreamGap] = []
    var changes: [WatchedChange] = []

    var isEmpty: Bool { gaps.isEmpty && changes.isEmpty }
  }

  /// nil for all.
  let models: [ModelSchema]?
  /// The filter of the only model.
  let filter: WatchFilter?
  /// The fields of the only model; nil for all.
  let fields: [String]?
  /// Whether to return net changes.
  let isCoalescing: Bool

  /// The changes after `start`, in groups to process one after the other; coalesced, as a single
  /// group.
  ///
  /// - Parameter past: Changes up to this position happened before watching began.
  /// - Throws: ``WatchFilter/Gap``; ``StoreError``.
  func groups(
    of transactions: [JournalTransaction], after start: JournalPosition, past: JournalPosition,
    in store: Store
  ) throws -> [Group] {
    let steps = try filter?.steps(of: transactions, in: store)
    let now = TimeText.now
    let models = JournalLine.models(of: store.schema)
    let groups = transactions.flatMap { transaction in
      // Not lazily: each change would be made several times.
      let changes = transaction.changes.compactMap { change -> WatchedChange? in
        guard change.position > start, includes(change.model) else { return nil }
        let line = JournalLine(change, of: transaction, in: models)
        var watched = WatchedChange(
          change: line.change, logged: line, time: change.position > past ? now : nil)
        guard let steps else { return watched }
        guard let step = steps[change.position] else { return nil }
        watched.change.operation = step.operation
        watched.change.fields = step.fields
        watched.passage = step.passage
        return watched
      }
      // Changes of programs without ModelStore have no transaction, so each is a group.
      let parts =
        transaction.isForeign
        ? changes.map { Group(end: $0.logged?.position ?? start, changes: [$0]) }
        : [Group(end: transaction.positions.upperBound, changes: changes)]
      let gaps = transaction.streamGaps(after: start, of: includes)
      guard !gaps.isEmpty else { return parts }
      // In the order of positions. A gap is acknowledged with the group after it.
      return (parts + gaps.map { Group(end: $0.placeBefore, gaps: [$0]) })
        .sorted { ($0.end, $0.gaps.count) < ($1.end, $1.gaps.count) }
    }
    guard isCoalescing, let last = groups.last else { return groups.map(narrowed) }
    return [
      narrowed(
        Group(
          end: last.end, gaps: groups.flatMap(\.gaps),
          changes: NetChanges.of(groups.flatMap(\.changes))))
    ]
  }

  /// Whether changes of the model called `name` are watched.
  func includes(_ name: String) -> Bool { models?.contains { $0.name == name } ?? true }

  private func narrowed(_ group: Group) -> Group {
    guard fields != nil else { return group }
    var group = group
    group.changes = group.changes.compactMap { $0.narrowed(to: fields) }
    return group
  }
}

extension WatchedChange {
  /// The change with these fields only; nil for an update of other fields.
  func narrowed(to fields: [String]?) -> WatchedChange? {
    guard let fields else { return self }
    var narrowed = self
    narrowed.change.fields = fields.compactMap { name in
      change.fields.first { $0.name == name }
    }
    let isMove = place.map { $0.old != $0.new || $0.isMoved } ?? false
    return narrowed.change.fields.isEmpty && change.operation == .update && !isMove ? nil : narrowed
  }
}
