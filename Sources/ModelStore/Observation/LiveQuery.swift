/// A query whose result is kept true: it knows how many records there are and which is where, and
/// tells what each commit does to them, with indices. It holds places, not records; to read the
/// records once, fetch the query.
///
/// It lives as long as it is held or has subscribers.
public final class LiveQuery<Element: Fetchable>: Sendable {
  public let query: Query<Element>
  private let result: LiveResult
  private let registration: Subscription
  private let capacity: Int
  private let report: @Sendable (StoreError) -> Void

  init(
    query: Query<Element>, result: LiveResult, registration: Subscription, capacity: Int,
    report: @escaping @Sendable (StoreError) -> Void
  ) {
    self.query = query
    self.result = result
    self.registration = registration
    self.capacity = capacity
    self.report = report
  }

  /// How many records the result has now.
  public var count: Int { result.rows.tree.count }

  /// The key of the record at `index`.
  ///
  /// - Precondition: `index` is at least 0 and less than ``count``, which may shrink meanwhile; for
  ///   several related questions take ``keys(in:)``.
  /// - Complexity: O(log n).
  public func key(at index: Int) -> [SQLValue] { result.rows.tree[index].key }

  /// The keys at the positions in `range`, cut to what the result has, of one version.
  ///
  /// - Complexity: O(log n + the range).
  public func keys(in range: Range<Int>) -> [[SQLValue]] {
    let tree = result.rows.tree
    var keys: [[SQLValue]] = []
    tree.forEach(in: range.clamped(to: 0..<tree.count)) { keys.append($0.key) }
    return keys
  }

  /// Calls `body` for each commit that changes the result, from now on, on the store's delivery
  /// queue.
  ///
  /// A subscriber that falls behind by more than the mailbox's capacity gets several commits as
  /// one.
  public func observe(
    _ body: @escaping @Sendable (QueryChanges<Element>) -> Void
  ) -> Subscription {
    let mailbox = makeMailbox()
    let schema = query.schema
    let end = result.subscribe(mailbox) { [report] in
      guard let delta = mailbox.take() else { return }
      do {
        let changes = try QueryChanges<Element>(delta, schema: schema)
        body(changes)
      } catch {
        report(StoreError(reporting: error))
      }
    }
    // The subscription keeps the query alive, not the other way round.
    return Subscription { [self] in
      end()
      withExtendedLifetime(self) {}
    }
  }

  /// The changes from now on, for one `for try await` loop.
  public var changes: ObservedChanges<QueryChanges<Element>> {
    let mailbox = makeMailbox()
    let schema = query.schema
    let end = result.subscribe(mailbox) {}
    let subscription = Subscription { [self] in
      end()
      withExtendedLifetime(self) {}
    }
    return ObservedChanges(subscription: subscription) {
      guard let delta = await mailbox.next() else { return nil }
      return try QueryChanges<Element>(delta, schema: schema)
    }
  }

  private func makeMailbox() -> Mailbox<QueryDelta> {
    Mailbox(capacity: capacity) { $0.followed(by: $1) }
  }
}

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
