public import ModelStore
internal import Synchronization

/// Records the events of an observation, so that a test can compare them as values.
///
/// Make one with ``ModelStore/Store/recorder(of:)``. It observes from then on:
///
/// ```swift
/// let books = try store.recorder(of: Book.self)
/// try store.write { tx in try tx.delete(Book.self, 1) }
/// #expect(books.takeAll() == [[RecordedChange(old: book)]])
/// ```
///
/// For any other observation, make a recorder of the store and pass events to ``record(_:)``:
///
/// ```swift
/// let names = EventRecorder<String>(store)
/// let token = try subject.stream.subscribe { name in names.record(name) }
/// ```
///
/// No method sleeps. ``takeAll()`` waits for the delivery of the commits so far. ``next()`` waits
/// for an event, which another task may cause.
public final class EventRecorder<Event: Sendable>: Sendable {
  private struct Waiter {
    let number: UInt64
    let continuation: CheckedContinuation<Event, any Error>
  }

  private struct State {
    var events: [Event] = []
    /// Tasks that wait, the first one first. While any task waits, `events` is empty.
    var waiters: [Waiter] = []
    var nextNumber: UInt64 = 0
    var hasEnded = false
    /// The observations that this recorder began.
    var kept: [any Sendable] = []
    /// Makes the store forget this recorder.
    var leave: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  private weak let store: Store?

  /// Creates a recorder of an observation that you begin yourself.
  ///
  /// - Parameter store: The store that you observe. When it closes, waiting ends with an error.
  public init(_ store: Store) {
    self.store = store
    let leave = store.whenClosed { [weak self] in self?.end() }
    state.withLock { $0.leave = leave }
  }

  deinit {
    state.withLock { $0.leave }?()
  }

  /// Keeps an observation for as long as this recorder.
  func keep(_ observation: any Sendable) { state.withLock { $0.kept.append(observation) } }

  /// Adds an event. Call it in the callback of your observation.
  public func record(_ event: Event) {
    let waiter: Waiter? = state.withLock { state in
      guard !state.waiters.isEmpty else {
        state.events.append(event)
        return nil
      }
      return state.waiters.removeFirst()
    }
    waiter?.continuation.resume(returning: event)
  }

  /// Returns every event up to the latest commit, oldest first, and forgets them.
  ///
  /// It first waits until the store has delivered all commits so far. So it also proves that
  /// nothing else happened: `#expect(recorder.takeAll() == [])`.
  ///
  /// - Precondition: Do not call it inside a write or inside a callback of the store.
  public func takeAll() -> [Event] {
    store?.waitForDelivery()
    return state.withLock { state in
      defer { state.events = [] }
      return state.events
    }
  }

  /// Returns every event up to the latest commit and forgets them, as the synchronous form does. It
  /// blocks no thread while it waits for the delivery.
  public func takeAll() async -> [Event] {
    await store?.waitForDelivery()
    return state.withLock { state in
      defer { state.events = [] }
      return state.events
    }
  }

  /// Returns the oldest event and forgets it. If there is none yet, waits for one.
  ///
  /// - Throws: ``RecordingEnded`` when the store closes before an event comes; `CancellationError`
  ///   when the task is cancelled. Swift Testing's `.timeLimit` cancels the task.
  public func next() async throws -> Event {
    let number = state.withLock { state in
      state.nextNumber += 1
      return state.nextNumber
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let ready: Result<Event, any Error>? = state.withLock { state in
          if !state.events.isEmpty { return .success(state.events.removeFirst()) }
          if state.hasEnded { return .failure(RecordingEnded()) }
          // Asked under the lock, which the handler below takes after the cancellation. So either
          // this sees the cancellation, or the handler finds the waiter.
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiters.append(Waiter(number: number, continuation: continuation))
          return nil
        }
        if let ready { continuation.resume(with: ready) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
      }
      waiter?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Returns the oldest `count` events and forgets them. Waits until there are that many.
  ///
  /// - Throws: As ``next()``; the events that came before are forgotten too.
  public func next(_ count: Int) async throws -> [Event] {
    var events: [Event] = []
    for _ in 0..<count { events.append(try await next()) }
    return events
  }

  private func end() {
    let (waiters, kept) = state.withLock { state in
      defer {
        state.waiters = []
        state.kept = []
        state.hasEnded = true
      }
      return (state.waiters, state.kept)
    }
    for waiter in waiters { waiter.continuation.resume(throwing: RecordingEnded()) }
    // Released where no lock is held.
    withExtendedLifetime(kept) {}
  }
}

/// The store was closed while a test waited for an event of an ``EventRecorder``.
public struct RecordingEnded: Error, Hashable, CustomStringConvertible {
  public var description: String { "The store closed, so no further event can come." }
}
