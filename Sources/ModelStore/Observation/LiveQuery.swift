/// A query whose result is kept true: it knows how many records there are and which is where, and
/// tells what each commit does to them, with indices. It holds places, not records; to read the
/// records once, fetch the query.
///
/// It lives as long as it is held or has subscribers. Equal queries share what they keep.
public final class LiveQuery<Element: Fetchable>: Sendable {
  /// What was asked for. A window that was moved since stands elsewhere now; see ``window``.
  public let query: Query<Element>
  let source: any LiveSource
  private let store: LiveStore

  init(query: Query<Element>, source: any LiveSource, store: LiveStore) {
    self.query = query
    self.source = source
    self.store = store
  }

  /// How the result is kept.
  public var plan: LivePlan { source.plan }

  /// How many records the result has now.
  public var count: Int { source.rows.count }

  /// The key of the record at `index`.
  ///
  /// - Precondition: `index` is at least 0 and less than ``count``, which may shrink meanwhile; for
  ///   several related questions take ``keys(in:)``.
  /// - Complexity: O(log n).
  public func key(at index: Int) -> [SQLValue] {
    QueryChanges<Element>.ResultKeys(rows: source.rows)[index]
  }

  /// The keys at the positions in `range`, cut to what the result has, of one version.
  ///
  /// - Complexity: O(log n + the range).
  public func keys(in range: Range<Int>) -> [[SQLValue]] {
    let rows = source.rows
    var keys: [[SQLValue]] = []
    rows.forEach(in: range.clamped(to: 0..<rows.count)) { keys.append($0.key) }
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
    return subscribe(mailbox, with: receiver(mailbox, body))
  }

  /// As ``observe(_:)``, and calls `body` first with the present result, every record of it an
  /// insertion, so that nothing is missed or told twice.
  ///
  /// - Throws: ``StoreError`` with code `misuse` inside a write of this store; and as fetching
  ///   does.
  /// - Complexity: Reads every record of the result, while writers wait.
  public func observeWithInitial(
    _ body: @escaping @Sendable (QueryChanges<Element>) -> Void
  ) throws -> Subscription {
    let mailbox = makeMailbox()
    let subscriber = receiver(mailbox, body)
    return try store.whileNobodyWrites { reading in
      let initial = try reading.initial(query, source)
      mailbox.put(initial)
      let subscription = subscribe(mailbox, with: subscriber)
      reading.deliver { subscriber.wake(initial.new.version) }
      return subscription
    }
  }

  /// The changes from now on, for one `for try await` loop.
  public var changes: ObservedChanges<QueryChanges<Element>> {
    let mailbox = makeMailbox()
    return sequence(mailbox, subscribe(mailbox, with: receiver(mailbox)))
  }

  /// As ``changes``, beginning with the present result; see ``observeWithInitial(_:)``.
  public func changesWithInitial() throws -> ObservedChanges<QueryChanges<Element>> {
    let mailbox = makeMailbox()
    return try store.whileNobodyWrites { reading in
      mailbox.put(try reading.initial(query, source))
      return sequence(mailbox, subscribe(mailbox, with: receiver(mailbox)))
    }
  }

  // Windows

  /// The part of the result that is shown, for a query with a limit or an offset; nil for others.
  public var window: (offset: Int, limit: Int?)? {
    source.rows.window.map { ($0.offset, $0.limit) }
  }

  /// Shows another part of the result from now on. Subscribers are told as if rows had come and
  /// gone; the version stays the same.
  ///
  /// - Throws: ``StoreError`` with code `invalidQuery` for a query without limit and offset;
  ///   `misuse` inside a write of this store. Then the window stays.
  /// - Precondition: Neither is negative.
  /// - Complexity: O((log n) × the rows that come or go); where only the window's rows are kept, it
  ///   is read anew.
  public func moveWindow(offset: Int, limit: Int?) throws {
    precondition(offset >= 0 && limit ?? 0 >= 0, "A window's offset and limit are not negative.")
    guard window != nil else {
      throw StoreError(
        .invalidQuery, "Only a live query with a limit or an offset has a window to move.",
        model: query.schema.name)
    }
    try store.whileNobodyWrites { reading in
      if try source.move(to: QueryWindow(offset: offset, limit: limit)).contains(.ready) {
        let version = source.rows.version
        reading.deliver { [source] in source.wake(upTo: version) }
      }
    }
  }

  // Subscribing

  private func makeMailbox() -> Mailbox<QueryDelta> {
    Mailbox(capacity: store.mailboxCapacity) { $0.followed(by: $1) }
  }

  private func receiver(
    _ mailbox: Mailbox<QueryDelta>,
    _ body: (@Sendable (QueryChanges<Element>) -> Void)? = nil
  ) -> LiveSubscriber {
    let schema = query.schema
    return LiveSubscriber(
      receive: { delta in
        mailbox.put(delta)
        return body == nil ? [] : .ready
      },
      wake: { [store] version in
        guard let body, let delta = mailbox.take(if: { $0.new.version <= version }) else { return }
        do {
          let changes = try QueryChanges<Element>(delta, schema: schema)
          body(changes)
        } catch {
          store.report(StoreError(reporting: error))
        }
      })
  }

  private func subscribe(
    _ mailbox: Mailbox<QueryDelta>, with subscriber: LiveSubscriber
  ) -> Subscription {
    let end = source.subscribe(subscriber)
    // The subscription keeps the query alive, not the other way round.
    return Subscription { [self] in
      mailbox.close()
      end()
      withExtendedLifetime(self) {}
    }
  }

  /// A delta as the caller sees it.
  func changes(_ delta: QueryDelta?) throws -> QueryChanges<Element>? {
    try delta.map { try QueryChanges($0, schema: query.schema) }
  }

  private func sequence(
    _ mailbox: Mailbox<QueryDelta>, _ subscription: Subscription
  ) -> ObservedChanges<QueryChanges<Element>> {
    let schema = query.schema
    return ObservedChanges(subscription: subscription) {
      guard let delta = await mailbox.next() else { return nil }
      return try QueryChanges<Element>(delta, schema: schema)
    }
  }
}
