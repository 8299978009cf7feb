import Hummingbird
import ModelStore
import ServiceLifecycle
import Synchronization

/// The events of the board, each computed and encoded once for all pages.
///
/// A page is always at one position of the change journal. The feed answers one question: what
/// leads from there to a later state? A page that follows receives the events of single commits. A
/// page that connects again, or that is slow, receives one event for all it missed. So a connection
/// costs no memory here, whatever it has missed.
package final class BoardFeed: Service {
  private let store: Store
  private let state: Mutex<State>

  private struct State {
    /// The newest position that pages are notified of.
    var position: JournalPosition
    /// The latest events, by the position that each starts from.
    var events: [JournalPosition: BoardEvent] = [:]
    /// The keys of `events`, oldest first.
    var starts: [JournalPosition] = []
    /// The board at `position`, once a page asked for it.
    var snapshot: BoardEvent?
    var bells: [Int: AsyncStream<Void>.Continuation] = [:]
    var nextBell = 0
    var hasEnded = false
  }

  /// Events that are kept for pages that are a little behind.
  private static let eventCountMax = 256
  /// If more commits than this wait, they become one event.
  private static let commitCountMax = 16

  package init(_ store: Store) throws {
    self.store = store
    state = Mutex(State(position: try store.changeJournal.position()))
  }

  /// The number of pages that are connected.
  package var pageCount: Int { state.withLock { $0.bells.count } }

  /// Follows the file until the program shuts down, and then ends all pages' streams.
  package func run() async throws {
    defer { endBells() }
    try await cancelWhenGracefulShutdown { [self] in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { [self] in
          let start = state.withLock { $0.position }
          for try await end in store.changeJournal.growth(after: start) {
            try await advance(to: end)
          }
        }
        // A page whose network is gone is only noticed when something is sent to it.
        group.addTask { [self] in
          while !Task.isCancelled {
            do { try await Task.sleep(for: .seconds(15)) } catch is CancellationError { return }
            ring()
          }
        }
        try await group.next()
        group.cancelAll()
      }
    }
  }

  // Pages

  /// Sends one page the events that lead from `position` to the present, and all later ones. It
  /// returns when the program shuts down, and throws when the page is gone.
  ///
  /// - Parameters:
  ///   - position: The state that the page has; nil for a page that has nothing yet.
  ///   - send: Sends bytes to the page, and waits if the page is slow.
  package func follow(
    after position: JournalPosition?, _ send: (ByteBuffer) async throws -> Void
  ) async throws {
    let (number, bell) = addBell()
    defer { removeBell(number) }
    var position = position
    for await _ in bell {
      var isIdle = true
      while let event = try await event(after: position) {
        position = event.position
        guard let text = event.text else { continue }
        try await send(text)
        isIdle = false
      }
      // A comment. If the page is gone, sending it fails.
      if isIdle { try await send(ByteBuffer(staticString: ":\n\n")) }
    }
  }

  /// Adds a bell for one page: it rings at once, at each change, and from time to time.
  private func addBell() -> (number: Int, bell: AsyncStream<Void>) {
    let (bell, ringing) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    return state.withLock { state in
      state.nextBell += 1
      if state.hasEnded { ringing.finish() } else { state.bells[state.nextBell] = ringing }
      ringing.yield()
      return (state.nextBell, bell)
    }
  }

  private func removeBell(_ number: Int) {
    state.withLock { state in _ = state.bells.removeValue(forKey: number) }
  }

  /// Returns the event that leads a page at `position` to a later state; nil if it is up to date.
  ///
  /// - Parameter position: nil for a page that has nothing yet.
  private func event(after position: JournalPosition?) async throws -> BoardEvent? {
    guard let position else { return try await snapshot() }
    let (current, known) = state.withLock { ($0.position, $0.events[position]) }
    if let known { return known }
    if position == current { return nil }
    do {
      return try await event(from: position, to: current, programs: [])
    } catch let error as StoreError where error.isAboutPosition {
      return try await snapshot()
    }
  }

  private func snapshot() async throws -> BoardEvent {
    let (position, known) = state.withLock { ($0.position, $0.snapshot) }
    if let known { return known }
    let tickets = try await store.fetch(Ticket.board, at: position)
    let event = try BoardEvent(
      "snapshot", BoardEvent.Snapshot(tickets: tickets, path: store.path), at: position)
    state.withLock { if $0.position == position { $0.snapshot = event } }
    return event
  }

  private func event(
    from start: JournalPosition, to end: JournalPosition, programs: [String]
  ) async throws -> BoardEvent {
    let changes = try await store.difference(of: Ticket.board, from: start, to: end)
    return changes.isEmpty
      ? BoardEvent(unchangedAt: end)
      : try BoardEvent(
        "change", BoardEvent.Change(programs: programs, changes: changes), at: end)
  }

  // Following the file

  /// Makes the events of the commits up to `end` that the feed does not have yet.
  private func advance(to end: JournalPosition) async throws {
    var start = state.withLock { $0.position }
    // The journal was emptied, or the file is another one now.
    guard end >= start else { return restart(at: end) }
    do {
      let commits = try await store.changeJournal.transactions(
        after: start, through: end, limit: Self.commitCountMax + 1)
      let isBehind = commits.count > Self.commitCountMax
      for part in isBehind ? [commits] : commits.map({ [$0] }) {
        guard let last = part.last else { continue }
        let next = isBehind ? end : last.positions.upperBound
        let programs = Set(part.map { $0.program ?? "another program" }).sorted()
        publish(try await event(from: start, to: next, programs: programs), after: start)
        start = next
      }
    } catch let error as StoreError where error.isAboutPosition {
      restart(at: end)
    }
  }

  /// Continues at `position`, although no events lead there: each page receives the whole board.
  private func restart(at position: JournalPosition) {
    state.withLock { state in
      (state.position, state.events, state.starts) = (position, [:], [])
      state.snapshot = nil
    }
    ring()
  }

  private func publish(_ event: BoardEvent, after start: JournalPosition) {
    state.withLock { state in
      state.position = event.position
      state.snapshot = nil
      state.events[start] = event
      state.starts.append(start)
      if state.starts.count > Self.eventCountMax {
        state.events[state.starts.removeFirst()] = nil
      }
    }
    ring()
  }

  private func ring() {
    for bell in state.withLock({ Array($0.bells.values) }) { bell.yield() }
  }

  private func endBells() {
    let bells = state.withLock { state in
      state.hasEnded = true
      return Array(state.bells.values)
    }
    for bell in bells { bell.finish() }
  }
}

extension StoreError {
  /// Whether a page cannot be brought up to date from its position, and needs the whole board.
  var isAboutPosition: Bool { [.journalTrimmed, .journalGap, .misuse].contains(code) }
}
