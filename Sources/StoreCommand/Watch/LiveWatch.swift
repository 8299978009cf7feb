import Dispatch
import ModelStore
import Synchronization

/// Follows the results of queries, for stores without a journal and for `--sort`: every change of
/// every program, with its indices in the result.
final class LiveWatch: Sendable {
  private struct State {
    var waiting = WaitingChanges()
    /// The models whose fields may have changed without an event.
    var gaps: Set<String> = []
    /// How many results still have to print their present records.
    var dueCount = 0
    var hasEnded = false
  }

  private let store: Store
  private let bell: Bell
  private let isCoalescing: Bool
  private let fields: [String]?
  private let includesIndices: Bool
  private let state = Mutex(State())
  /// Signals that the earlier changes were taken.
  private let room = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - isCoalescing: Whether to print net changes.
  ///   - fields: Fields of the only model; nil for all.
  ///   - includesIndices: Whether to print indices, for a single result.
  init(of store: Store, _ bell: Bell, isCoalescing: Bool, fields: [String]?, includesIndices: Bool)
  {
    self.store = store
    self.bell = bell
    self.isCoalescing = isCoalescing
    self.fields = fields
    self.includesIndices = includesIndices
  }

  /// Writes the changes of `queries` until there is a reason to end; nil after enough changes.
  ///
  /// - Parameters:
  ///   - snapshot: Whether to write the present records first.
  ///   - whenReady: Called with the results, once all later changes will be written.
  func follow(
    _ queries: [StoreQuery<DynamicRecord>], snapshot: Bool,
    until deadline: ContinuousClock.Instant?,
    to output: inout WatchOutput, whenReady: ([LiveQuery<DynamicRecord>]) throws -> Void
  ) throws -> Bell.Waking? {
    let live = try queries.map { try store.liveQuery($0) }
    let subscriptions = try subscribe(to: live, snapshot: snapshot)
    defer {
      state.withLock { $0.hasEnded = true }
      room.signal()
      for subscription in subscriptions { subscription.cancel() }
    }
    try whenReady(live)
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
      // The present records are written first, even with a short timeout.
      switch try bell.wait(until: isDue ? nil : deadline) {
      case .rung: continue
      case let waking: return waking
      }
    }
    return nil
  }

  private func subscribe(
    to live: [LiveQuery<DynamicRecord>], snapshot: Bool
  ) throws -> [ObservationToken] {
    state.withLock { $0.dueCount = snapshot ? live.count : 0 }
    return try live.map { query in
      let schema = query.query.schema
      return try query.observe(options: snapshot ? .initial : []) { [self] changes in
        take(
          ResultLines(changes, of: schema, includesIndices: includesIndices).all, of: changes,
          gap: changes.isReset && !changes.isInitial ? schema.name : nil)
      }
    }
  }

  /// Writes once for each model that later changes of its fields are not reported.
  private func writeGaps(
    _ models: Set<String>, told: inout Set<String>, to output: inout WatchOutput
  ) throws {
    let unreported = models.subtracting(told).sorted()
    guard !unreported.isEmpty else { return }
    told.formUnion(models)
    try output.write([
      StreamGap(
        reason: .unrecorded, side: .after, models: unreported,
        words:
          "changes of other programs to fields of \(unreported.joined(separator: ", ")) are not reported "
          + "from now on (see \(Program.name) journal on)")
    ])
    try output.flush()
  }

  /// Waits while many changes are not taken yet. Later changes stay in the store, which coalesces
  /// them before they take much memory.
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
