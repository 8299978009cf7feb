internal import Synchronization

/// Those in this process who wait for news in the change journal, and the bell that wakes them.
///
/// It tells that something may have been entered, not what. While nobody listens it keeps nothing.
final class JournalListeners: Sendable {
  private struct State {
    var listenerCount = 0
    /// How often the bell rang.
    var ringCount: UInt64 = 0
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var nextNumber: UInt64 = 0
    var hasEnded = false
    var onAudienceChange: (@Sendable () -> Void)?
  }

  // Never held while anybody else's code runs.
  private let state = Mutex(State())

  /// Whether somebody listens, so that other processes' commits must be heard of.
  var isEmpty: Bool { state.withLock { $0.listenerCount == 0 } }

  /// How many wait now.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Calls `body` when the first listener comes and when the last one has gone. For one caller,
  /// before anybody listens.
  func onAudienceChange(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.onAudienceChange = body }
  }

  /// Wakes everybody: something may have been entered.
  func ring() {
    wake { $0.ringCount += 1 }
  }

  /// Wakes everybody for the last time.
  func end() {
    wake { $0.hasEnded = true }
  }

  private func wake(_ change: (inout State) -> Void) {
    let woken = state.withLock { state in
      change(&state)
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for continuation in woken { continuation.resume() }
  }

  /// Somebody who listens, from when it is made until it is let go.
  final class Listener: Sendable {
    private let listeners: JournalListeners
    private let isOver: @Sendable () -> Bool

    /// - Parameter isOver: Whether the listener's own store has closed; asked after each ring.
    init(_ listeners: JournalListeners, isOver: @escaping @Sendable () -> Bool = { false }) {
      self.listeners = listeners
      self.isOver = isOver
      listeners.changeCount(by: 1)
    }

    deinit { listeners.changeCount(by: -1) }

    /// To be asked before looking for entries, and given to ``wait(beyond:)``.
    var ringCount: UInt64 { listeners.state.withLock { $0.ringCount } }

    /// Whether the bell will not ring any more.
    var hasEnded: Bool { isOver() || listeners.state.withLock { $0.hasEnded } }

    /// What `look` finds, at once or after one of the next rings.
    ///
    /// - Returns: nil when the task was cancelled or the bell rings no more.
    /// - Throws: What `look` throws before that.
    func first<Found>(_ look: () async throws -> Found?) async throws -> Found? {
      while true {
        // Before all questions: whatever changes their answers rings once more.
        let ringCount = ringCount
        guard !Task.isCancelled, !hasEnded else { return nil }
        do {
          if let found = try await look() { return found }
        } catch {
          if Task.isCancelled || hasEnded { return nil }
          throw error
        }
        await wait(beyond: ringCount)
      }
    }

    /// Waits until the bell has rung more often than `ringCount`, nobody rings it any more, or the
    /// task is cancelled.
    func wait(beyond ringCount: UInt64) async {
      await listeners.wait(beyond: ringCount)
    }
  }

  private func changeCount(by difference: Int) {
    let audienceChanged = state.withLock { state -> (@Sendable () -> Void)? in
      let before = state.listenerCount
      state.listenerCount += difference
      return before == 0 || state.listenerCount == 0 ? state.onAudienceChange : nil
    }
    audienceChanged?()
  }

  private func wait(beyond ringCount: UInt64) async {
    let number = state.withLock { state in
      state.nextNumber += 1
      return state.nextNumber
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          // A cancellation that came first found nobody to wake.
          guard !state.hasEnded, state.ringCount == ringCount, !Task.isCancelled else {
            return true
          }
          state.waiting[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let continuation = state.withLock { $0.waiting.removeValue(forKey: number) }
      continuation?.resume()
    }
  }
}
