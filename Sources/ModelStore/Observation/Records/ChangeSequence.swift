/// The events of one observation as an asynchronous sequence, for one reader. The observation
/// starts when the sequence is made and ends when it is dropped.
public struct ChangeSequence<Event: Sendable>: AsyncSequence, Sendable {
  public typealias Element = Event
  public typealias Failure = any Error

  private let subscription: ObservationToken
  private let advance: @Sendable () async throws -> Event?
  private let report: @Sendable (StoreError) -> Void

  /// - Parameters:
  ///   - report: Told of events that cannot be made, by those who have no loop.
  ///   - next: Must not hold `subscription`.
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
  /// Calls `body` on `actor` with each event, one after the other in commit order, for as long as
  /// `actor` lives; the observation does not keep it alive. Takes the place of a loop: a sequence
  /// has one reader.
  ///
  /// ```swift
  /// let subscription = try store.changes(of: .field(\Album.title, of: 1), coalescing: .latest)
  ///   .deliver(to: shelf) { shelf, change in shelf.title = change.new }
  /// ```
  ///
  /// Events reach an actor in a turn of its own, after the commit and in no order with those of
  /// other subscriptions. A write that `body` makes begins a new chain: a circle through an actor
  /// is not noticed.
  ///
  /// - Parameter body: The next event waits until it has returned. An event that cannot be made
  ///   goes to the store's `onError`, and the next one comes.
  /// - Returns: Keep it: dropping it ends the observation. After `actor` itself has cancelled it,
  ///   `body` is not called again.
  public func deliver<Receiver: Actor>(
    to actor: Receiver,
    _ body: @escaping @Sendable (isolated Receiver, Event) async -> Void
  ) -> ObservationToken {
    // A task of its own, which has nothing of the callback that may have begun it.
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
  ///   - event: nil when no more will come.
  ///   - actor: nil when it is gone.
  /// - Returns: Whether the observation is over.
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
