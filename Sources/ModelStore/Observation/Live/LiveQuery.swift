/// A query whose result is kept up to date. It reports deleted, inserted, moved and updated records
/// by index.
///
/// It holds places, not records. To read the records once, fetch the query instead.
///
/// The result is kept up to date while you retain the live query or it has subscribers. Equal
/// queries that use a tree of places share that tree, also when they show different windows of it.
/// Nothing is shared by a window that keeps its own records (``LivePlan/incremental``), nor by a
/// query that is re-executed.
public final class LiveQuery<Element: Fetchable>: Sendable {
  /// The query as it was requested. For the current window see ``window``.
  public let query: StoreQuery<Element>
  let source: any LiveSource
  let store: LiveStore

  init(query: StoreQuery<Element>, source: any LiveSource, store: LiveStore) {
    self.query = query
    self.source = source
    self.store = store
  }

  /// How the result is kept up to date.
  public var plan: LivePlan { source.plan }

  /// Whether it is a window that reads and keeps only its own records, whatever the size of the
  /// result.
  package var keepsOnlyItsWindow: Bool { source.keepsOnlyItsWindow }

  /// The current number of records.
  public var count: Int { source.rows.count }

  /// Returns the key of the record at `index`.
  ///
  /// - Precondition: `index` is at least 0 and less than ``count``, which may shrink in the
  ///   meantime. To read several keys of one version, call ``keys(in:)``.
  /// - Complexity: O(log n).
  public func key(at index: Int) -> [SQLValue] {
    QueryChanges<Element>.ResultKeys(rows: source.rows)[index]
  }

  /// Returns the keys at the positions in `range`, clamped to the result, all of one version.
  ///
  /// - Complexity: O(log n + k) for k positions.
  public func keys(in range: Range<Int>) -> [[SQLValue]] {
    let rows = source.rows
    var keys: [[SQLValue]] = []
    rows.forEach(in: range.clamped(to: 0..<rows.count)) { keys.append($0.key) }
    return keys
  }

  /// Calls `body` for each later commit that changes the result, on the store's delivery queue.
  ///
  /// - Parameters:
  ///   - options: With ``ObservationOptions/initial``, `body` first receives the current result as
  ///     insertions. No change is lost or reported twice. ``ObservationOptions/prior`` is not
  ///     available.
  ///   - coalescing: How commits are combined while a call is running or the subscription is
  ///     paused.
  /// - Returns: A token to keep: releasing it ends the observation. It keeps the query alive.
  /// - Throws: ``StoreError`` with code `misuse` for an option that is not available. With
  ///   ``ObservationOptions/initial`` also `misuse` inside a write of this store, and any error of
  ///   fetching.
  /// - Complexity: Writers wait while the initial result is read.
  public func observe(
    options: ObservationOptions = [], coalescing: CoalescingPolicy = .standard,
    _ body: @escaping @Sendable (QueryChanges<Element>) -> Void
  ) throws -> ObservationToken {
    try options.check(allowing: .initial, by: .callback, of: query.schema.name)
    let mailbox = Mailbox<QueryDelta>(store.scope, options: options, coalescing: coalescing)
    deliver(mailbox, to: body) { [report = store.scope.report] error in
      report(StoreError(reporting: error))
    }
    return try begin(mailbox, options)
  }

  /// Reports an error that no call can throw, unless it comes from closing the store.
  func report(_ error: any Error) {
    if !store.scope.hasEnded { store.scope.report(StoreError(reporting: error)) }
  }

  /// Reads the current result and subscribes to later changes. No commit comes between the two.
  ///
  /// - Parameters:
  ///   - take: Called once with the result, before any call of `body`.
  ///   - body: Called on the delivery queue. Commits since the last call are combined into one
  ///     event. A failure means that a record could not be decoded.
  /// - Throws: The errors of ``observe(options:coalescing:_:)`` with the initial result, and of
  ///   `take`.
  func follow(
    from take: (QueryChanges<Element>) throws -> Void,
    _ body: @escaping @Sendable (Result<QueryChanges<Element>, any Error>) -> Void
  ) throws -> ObservationToken {
    let mailbox = Mailbox<QueryDelta>(store.scope, coalescing: .latest)
    deliver(mailbox) {
      body(.success($0))
    } failing: {
      body(.failure($0))
    }
    return try store.whileNobodyWrites { reading in
      try take(QueryChanges(reading.initial(query, source), schema: query.schema))
      return subscribe(mailbox)
    }
  }

  /// Calls `body` with the events of `mailbox`, each in its cascade.
  ///
  /// - Parameter fail: Called instead if a record could not be decoded.
  private func deliver(
    _ mailbox: Mailbox<QueryDelta>,
    to body: @escaping @Sendable (QueryChanges<Element>) -> Void,
    failing fail: @escaping @Sendable (any Error) -> Void
  ) {
    let schema = query.schema
    mailbox.whenReady { delta in
      Wave.$current.withValue(delta.wave.heard(at: ObservedPath(model: schema.name))) {
        do {
          body(try QueryChanges<Element>(delta, schema: schema))
        } catch {
          fail(error)
        }
      }
    }
  }

  /// Returns the later changes as a sequence for one `for try await` loop.
  ///
  /// Parameters and errors are those of ``observe(options:coalescing:_:)``.
  /// ``ObservationOptions/synchronous`` is not available for a loop.
  public func changes(
    options: ObservationOptions = [], coalescing: CoalescingPolicy = .standard
  ) throws -> ChangeSequence<QueryChanges<Element>> {
    try options.check(allowing: .initial, by: .loop, of: query.schema.name)
    let mailbox = Mailbox<QueryDelta>(store.scope, coalescing: coalescing)
    let schema = query.schema
    return ChangeSequence(subscription: try begin(mailbox, options), report: store.scope.report) {
      guard let delta = await mailbox.next() else { return nil }
      return try QueryChanges<Element>(delta, schema: schema)
    }
  }

  // Windows

  /// The part of the result that is shown, for a query with a limit or an offset; nil for others.
  public var window: (offset: Int, limit: Int?)? {
    source.rows.window.map { ($0.offset, $0.limit) }
  }

  /// Shows another part of the result from now on.
  ///
  /// Subscribers receive the difference as deletions and insertions; the version stays the same.
  ///
  /// - Throws: ``StoreError`` with code `invalidQuery` for a query without limit and offset, with
  ///   code `misuse` inside a write of this store, and any error of fetching. The window then stays
  ///   where it is.
  /// - Precondition: Neither value is negative.
  /// - Complexity: O((log n) × the rows that enter or leave). A window that keeps its own rows is
  ///   read again. If such a window grows beyond 4096 rows, all places are read once while writers
  ///   wait, and kept from then on.
  public func moveWindow(offset: Int, limit: Int?) throws {
    precondition(
      offset >= 0 && limit ?? 0 >= 0, "A window's offset and limit must not be negative.")
    guard window != nil else {
      throw StoreError(
        .invalidQuery, "Only a live query with a limit or an offset has a window to move.",
        model: query.schema.name)
    }
    try store.whileNobodyWrites { reading in
      let outcome = try source.move(to: QueryWindow(offset: offset, limit: limit))
      let version = source.rows.version
      reading.broker.enqueue(for: outcome) { [source] in source.wake(upTo: version) }
    }
  }

  // Subscribing

  private func begin(
    _ mailbox: Mailbox<QueryDelta>, _ options: ObservationOptions
  ) throws -> ObservationToken {
    guard options.contains(.initial) else {
      try store.checkOpen()
      return subscribe(mailbox)
    }
    return try store.whileNobodyWrites { reading in
      let initial = try reading.initial(query, source)
      let outcome = mailbox.put(initial)
      let subscription = subscribe(mailbox)
      reading.broker.enqueue(for: outcome) { mailbox.deliver(upTo: initial.version) }
      return subscription
    }
  }

  private func subscribe(_ mailbox: Mailbox<QueryDelta>) -> ObservationToken {
    store.subscribe(mailbox, to: source.models, keeping: self) { source.subscribe($0) }
  }
}

extension LiveQuery: _LiveMember {
  public typealias Changes = QueryChanges<Element>

  public var _membership: _LiveMembership<QueryChanges<Element>> {
    _LiveMembership(
      models: source.models,
      subscribe: { [self] subscriber in
        let end = source.subscribe(
          LiveSubscriber(receive: { subscriber.receive(.query($0)) }, wake: subscriber.wake))
        // The group keeps the query alive.
        return {
          end()
          withExtendedLifetime(self) {}
        }
      },
      initial: { [query, source] reading in .query(try reading.initial(query, source)) },
      changes: { [schema = query.schema] delta in
        guard case .query(let delta)? = delta else { return nil }
        return try QueryChanges(delta, schema: schema)
      })
  }
}
