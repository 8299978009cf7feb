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

  private let store: Store
  private let bell: Bell
  private let isCoalescing: Bool
  private let fields: [String]?
  private let tellsPlaces: Bool
  private let state = Mutex(State())
  /// Rings for who waits for the changes before to be taken.
  private let room = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - isCoalescing: Whether only what changes come to is told.
  ///   - fields: Of the only model; nil for all.
  ///   - tellsPlaces: Whether the places in the result are told, which is one then.
  init(of store: Store, _ bell: Bell, isCoalescing: Bool, fields: [String]?, tellsPlaces: Bool) {
    self.store = store
    self.bell = bell
    self.isCoalescing = isCoalescing
    self.fields = fields
    self.tellsPlaces = tellsPlaces
  }

  /// Writes what happens to `queries` until there is a reason to end; nil when enough was written.
  ///
  /// - Parameters:
  ///   - snapshot: Whether it begins with the records that are there.
  ///   - whenReady: Called when everything from then on will be written.
  func follow(
    _ queries: [StoreQuery<DynamicRecord>], snapshot: Bool,
    until deadline: ContinuousClock.Instant?,
    to output: inout WatchOutput, whenReady: () throws -> Void
  ) throws -> Bell.Waking? {
    let subscriptions = try subscribe(to: queries, snapshot: snapshot)
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
      try writeGaps(gaps, told: &told, to: &output)
      if output.isFull { break }
      if !waiting.changes.isEmpty {
        room.signal()
        let lines = isCoalescing ? waiting.net : waiting.changes
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

  private func subscribe(
    to queries: [StoreQuery<DynamicRecord>], snapshot: Bool
  ) throws -> [ObservationToken] {
    let live = try queries.map { try store.liveQuery($0) }
    state.withLock { $0.dueCount = snapshot ? live.count : 0 }
    return try live.map { query in
      let schema = query.query.schema
      return try query.observe(options: snapshot ? .initial : []) { [self] changes in
        take(
          ResultLines(changes, of: schema, tellsPlaces: tellsPlaces).all, of: changes,
          gap: changes.isReset && !changes.isInitial ? schema.name : nil)
      }
    }
  }

  /// Writes once for each model that its fields may change from now on without a report.
  private func writeGaps(
    _ models: Set<String>, told: inout Set<String>, to output: inout WatchOutput
  ) throws {
    let unheard = models.subtracting(told).sorted()
    guard !unheard.isEmpty else { return }
    told.formUnion(models)
    try output.write([
      StreamGap(
        reason: .unrecorded, side: .after, models: unheard,
        words:
          "what others change in fields of \(unheard.joined(separator: ", ")) cannot be told "
          + "from now on (see \(Program.name) journal on)")
    ])
    try output.flush()
  }

  /// Waits while many changes are not taken yet: what comes meanwhile waits in the store, where it
  /// is folded before it takes much room.
  private func take(_ lines: [WatchedChange], of event: QueryChanges<DynamicRecord>, gap: String?) {
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
}
