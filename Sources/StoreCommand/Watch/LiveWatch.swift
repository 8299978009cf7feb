import Dispatch
import ModelStore
import Synchronization

/// Follows the results of queries, where there is no journal or an order is wanted: every change of
/// every program, with the places in the result.
final class LiveWatch: Sendable {
  private struct State {
    var waiting = WaitingChanges()
    /// The models of which fields may have changed that nobody can tell.
    var gaps: Set<String> = []
    /// How many results are still to be told as they are.
    var dueCount = 0
    var hasEnded = false
  }

  private let bell: Bell
  private let isFolding: Bool
  private let fields: [String]?
  private let state = Mutex(State())
  /// Rings for who waits for the changes before to be taken.
  private let room = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - isFolding: Whether only what changes come to is told.
  ///   - fields: Of the only model; nil for all.
  init(_ bell: Bell, isFolding: Bool, fields: [String]?) {
    self.bell = bell
    self.isFolding = isFolding
    self.fields = fields
  }

  /// Writes what happens to `queries` until there is a reason to end; nil when enough was written.
  ///
  /// - Parameter tellsPlaces: Whether the places in the result are told, which is one then.
  func follow(
    _ queries: [Query<Record>], of store: Store, snapshot: Bool, tellsPlaces: Bool,
    until deadline: ContinuousClock.Instant?, to output: inout WatchOutput,
    _ context: CommandContext, whenReady: () throws -> Void
  ) throws -> Bell.Waking? {
    let live = try queries.map { try store.live($0) }
    state.withLock { $0.dueCount = snapshot ? live.count : 0 }
    let subscriptions = try live.map { query in
      let schema = query.query.schema
      return try query.observe(options: snapshot ? .initial : []) { [self] changes in
        take(
          Self.changes(of: changes, schema, tellsPlaces: tellsPlaces), of: changes,
          gap: changes.isReset && !changes.isInitial ? schema.name : nil)
      }
    }
    defer {
      state.withLock { $0.hasEnded = true }
      room.signal()
      for subscription in subscriptions { subscription.cancel() }
    }
    try whenReady()
    var told: Set<String> = []
    while !output.isFull {
      if Interruption.isRequested { return .interrupted }
      let (waiting, gaps, isDue) = state.withLock { state in
        defer { state.gaps = [] }
        return (state.waiting.take(), state.gaps, state.dueCount > 0)
      }
      try store.checkUnchanged(queries.map(\.schema))
      let unheard = gaps.subtracting(told).sorted()
      told.formUnion(gaps)
      if !unheard.isEmpty {
        try output.write([
          StreamGap(
            reason: .unrecorded, side: .after, models: unheard,
            words:
              "what others change in fields of \(unheard.joined(separator: ", ")) cannot be told "
              + "from now on (see \(Program.name) journal on)")
        ])
        try output.flush()
        if output.isFull { break }
      }
      if !waiting.changes.isEmpty {
        room.signal()
        let lines = isFolding ? waiting.net : waiting.changes
        try output.write(lines.compactMap { $0.narrowed(to: fields) })
        try output.flush()
        if !isDue, let deadline, deadline <= ContinuousClock.Instant.now, !output.isFull {
          return .timedOut
        }
        continue
      }
      // What is there is told first, however little time there is.
      switch try bell.wait(until: isDue ? nil : deadline) {
      case .rung: continue
      case let waking: return waking
      }
    }
    return nil
  }

  /// Waits while many changes are not taken yet: what comes meanwhile waits in the store, where it
  /// is folded before it takes much room.
  private func take(_ lines: [WatchedChange], of event: QueryChanges<Record>, gap: String?) {
    while !state.withLock({ $0.hasEnded || $0.waiting.changes.count < Self.waitingCountMax }) {
      room.wait()
    }
    state.withLock { state in
      state.waiting.add(lines, of: event)
      if let gap { state.gaps.insert(gap) }
      if event.isInitial { state.dueCount -= 1 }
    }
    bell.ring()
  }

  private static let waitingCountMax = 4096

  private static func changes(
    of changes: QueryChanges<Record>, _ schema: ModelSchema, tellsPlaces: Bool
  ) -> [WatchedChange] {
    let now = TimeText.now
    // What another program wrote is read anew: why a row came or went is not known then.
    let tellsPassages = tellsPlaces && (changes.isInitial || !changes.isReset)
    func change(
      _ operation: RecordChange.Operation, _ key: [SQLValue], _ fields: [ChangeLine.Field],
      _ origin: Origin, from old: Int?, to new: Int?
    ) -> WatchedChange {
      WatchedChange(
        change: ChangeLine(
          operation: operation, model: schema.name, key: key, fields: fields, origin: origin,
          schema: schema),
        logged: nil, place: tellsPlaces ? WatchedChange.Place(old: old, new: new) : nil,
        passage: tellsPassages ? .within : nil, time: now)
    }
    var watched: [WatchedChange] = []
    for deletion in changes.deletions {
      let fields = deletion.record.map { record in
        zip(schema.fields, record.values).map {
          ChangeLine.Field(name: $0.name, old: $1, new: nil)
        }
      }
      var line = change(
        .delete, deletion.key, fields ?? [], deletion.origin, from: deletion.index, to: nil)
      line.passage = tellsPassages ? deletion.reason == .filter ? .left : .within : nil
      watched.append(line)
    }
    for insertion in changes.insertions {
      let fields = zip(schema.fields, insertion.record.values).map {
        ChangeLine.Field(name: $0.name, old: nil, new: $1)
      }
      var line = change(
        .insert, insertion.key, fields, insertion.origin, from: nil, to: insertion.index)
      line.isSnapshot = changes.isInitial
      let hasEntered = insertion.reason == .filter && !changes.isInitial
      line.passage = tellsPassages ? hasEntered ? .entered : .within : nil
      watched.append(line)
    }
    // By where they stand: each record stands somewhere else.
    let moved = Set(changes.moves.map(\.newIndex))
    for update in changes.updates {
      let fields = update.fields.map {
        ChangeLine.Field(name: $0.name, old: $0.old, new: $0.new)
      }
      var line = change(
        .update, update.key, fields, update.fields.first?.origin ?? .foreign,
        from: update.oldIndex, to: update.newIndex)
      line.place?.isMoved = moved.contains(update.newIndex)
      watched.append(line)
    }
    let updated = Set(changes.updates.map(\.newIndex))
    for move in changes.moves where !updated.contains(move.newIndex) {
      var line = change(.update, move.key, [], .foreign, from: move.oldIndex, to: move.newIndex)
      line.place?.isMoved = true
      watched.append(line)
    }
    return watched
  }
}
