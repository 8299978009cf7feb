/// The events of one observation as an asynchronous sequence, for one reader. The observation
/// starts when the sequence is made and ends when it is dropped.
public struct ObservedChanges<Event: Sendable>: AsyncSequence, Sendable {
  public typealias Element = Event
  public typealias Failure = any Error

  private let subscription: Subscription
  private let next: @Sendable () async throws -> Event?

  init(subscription: Subscription, next: @escaping @Sendable () async throws -> Event?) {
    self.subscription = subscription
    self.next = next
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(subscription: subscription, advance: next)
  }

  public struct Iterator: AsyncIteratorProtocol {
    let subscription: Subscription
    let advance: @Sendable () async throws -> Event?

    public mutating func next() async throws -> Event? { try await advance() }
  }
}
