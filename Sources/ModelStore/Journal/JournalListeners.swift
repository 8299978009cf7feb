internal import Synchronization

/// The listeners in this process that wait for new entries of the change journal, and the bell that
/// wakes them.
///
/// A ring says that there may be new entries, without details. Without listeners it uses no
/// resources.
final class JournalListeners: Sendable {
  private struct State {
    var listenerCount = 0
    /// The number of rings.
    var ringCount: UInt64 = 0
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var nextNumber: UInt64 = 0
    var hasEnded = false
    var onAudienceChange: (@Sendable () -> Void)?
  }

  // Never held while other code runs.
  private let state = Mutex(State())

  /// Whether there are no listeners, so that commits of other processes need not be detected.
  var isEmpty: Bool { state.withLock { $0.listenerCount == 0 } }

  /// The number of waiting listeners.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Calls `body` when the first listener starts and after the last listener has ended. Call it
  /// once, before there are listeners.
  func onAudienceChange(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.onAudienceChange = body }
  }

  /// Wakes all listeners, because there may be new entries.
  func ring() {
    wake { $0.ringCount += 1 }
  }

  /// Wakes all listeners for the last time.
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

  /// A listener, from its creation to its release.
  final class Listener: Sendable {
    private let listeners: JournalListeners
    private let isOver: @Sendable () -> Bool

    /// - Parameter isOver: Whether the listener's own store has been closed; called after each
    ///   ring.
    init(_ listeners: JournalListeners, isOver: @escaping @Sendable () -> Bool = { false }) {
      self.listeners = listeners
      self.isOver = isOver
      listeners.changeCount(by: 1)
    }

    deinit { listeners.changeCount(by: -1) }

    /// The number of rings. Read it before you search for entries, and pass it to
    /// ``wait(beyond:)``.
    var ringCount: UInt64 { listeners.state.withLock { $0.ringCount } }

    /// Whether there will be no more rings.
    var hasEnded: Bool { isOver() || listeners.state.withLock { $0.hasEnded } }

    /// Returns the first result of `look`, which is called now and after each ring.
    ///
    /// - Returns: nil if the task was cancelled or there will be no more rings.
    /// - Throws: The error of `look`.
    func first<Found>(_ look: () async throws -> Found?) async throws -> Found? {
      while true {
        // Read before the checks below: a change of their results causes another ring.
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

    /// Waits until there are more than `ringCount` rings, the rings have ended, or the task is
    /// cancelled.
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
          // A cancellation before this point had no continuation to resume.
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
