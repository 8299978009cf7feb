/// The events of one observation as an asynchronous sequence for one reader. The observation starts
/// when the sequence is created and ends when it is released.
public struct ChangeSequence<Event: Sendable>: AsyncSequence, Sendable {
  public typealias Element = Event
  public typealias Failure = any Error

  private let subscription: ObservationToken
  private let advance: @Sendable () async throws -> Event?
  private let report: @Sendable (StoreError) -> Void

  /// - Parameters:
  ///   - report: Receives the error of an event that cannot be decoded, for observations without a
  ///     loop.
  ///   - next: Must not retain `subscription`.
  init(
    subscription: ObservationToken, report: @escaping @Sendable (StoreError) -> Void,
    next: @escaping @Sendable () async throws -> Event?
  ) {
    self.subscription = subscription
    self.report = report
    advance = next
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(subscription: subscription, advance: advance)
  }

  public struct Iterator: AsyncIteratorProtocol {
    let subscription: ObservationToken
    let advance: @Sendable () async throws -> Event?

    public mutating func next() async throws -> Event? { try await advance() }
  }
}

extension ChangeSequence {
  /// Calls `body` on `actor` with each event, one at a time in commit order, for as long as `actor`
  /// lives. The observation does not retain the actor. Use it instead of a loop: a sequence has
  /// only one reader.
  ///
  /// ```swift
  /// let subscription = try store.changes(of: .field(\Album.title, of: 1), coalescing: .latest)
  ///   .deliver(to: shelf) { shelf, change in shelf.title = change.new }
  /// ```
  ///
  /// Events reach the actor asynchronously after the commit, in no particular order relative to
  /// other subscriptions. A write in `body` starts a new cascade, so a cycle through an actor is
  /// not detected.
  ///
  /// - Parameter body: The next event waits until it has returned. If an event cannot be decoded,
  ///   the store's `onError` receives the error, and the next event follows.
  /// - Returns: A token to keep: releasing it ends the observation. After you cancel it on `actor`,
  ///   `body` is not called again.
  public func deliver<Receiver: Actor>(
    to actor: Receiver,
    _ body: @escaping @Sendable (isolated Receiver, Event) async -> Void
  ) -> ObservationToken {
    // A task that does not inherit the context of a callback.
    ChangeBroker.outsideDelivery {
      Task { [weak actor, weak subscription, advance, report] in
        var isOver = false
        while !isOver {
          do {
            let event = try await advance()
            isOver = await Self.hand(event, to: actor, unless: subscription, body)
          } catch {
            report(StoreError(reporting: error))
          }
        }
        subscription?.cancel()
      }
    }
    return subscription
  }

  /// - Parameters:
  ///   - event: nil after the last event.
  ///   - actor: nil when it was released.
  /// - Returns: Whether the observation has ended.
  private static func hand<Receiver: Actor>(
    _ event: Event?, to actor: Receiver?, unless subscription: ObservationToken?,
    _ body: @Sendable (isolated Receiver, Event) async -> Void
  ) async -> Bool {
    guard let event, let actor else { return true }
    return await hand(event, to: actor, unless: subscription, body)
  }

  private static func hand<Receiver: Actor>(
    _ event: Event, to actor: isolated Receiver, unless subscription: ObservationToken?,
    _ body: @Sendable (isolated Receiver, Event) async -> Void
  ) async -> Bool {
    guard let subscription, !subscription.isEnded else { return true }
    await body(actor, event)
    return false
  }
}
