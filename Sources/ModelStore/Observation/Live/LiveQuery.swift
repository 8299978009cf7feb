/// A query whose result is kept true: it knows how many records there are and which is where, and
/// tells what each commit does to them, with indices. It holds places, not records; to read the
/// records once, fetch the query.
///
/// It lives as long as it is held or has subscribers. Equal queries that are followed by a tree of
/// places share that tree, whatever part of it each shows. A window that keeps its own records
/// instead (``LivePlan/incremental``), and a query that is run again, share nothing.
public final class LiveQuery<Element: Fetchable>: Sendable {
  /// What was asked for. A window that was moved since stands elsewhere now; see ``window``.
  public let query: StoreQuery<Element>
  let source: any LiveSource
  let store: LiveStore

  init(query: StoreQuery<Element>, source: any LiveSource, store: LiveStore) {
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
  /// - Parameters:
  ///   - options: With ``ObservationOptions/initial``, `body` is called first with the present
  ///     result, every record of it an insertion, so that nothing is missed or told twice.
  ///     ``ObservationOptions/prior`` is refused.
  ///   - coalescing: What becomes of commits while a call is running or the subscription is paused.
  /// - Returns: Keep it: dropping it ends the observation. It keeps the query alive.
  /// - Throws: ``StoreError`` with code `misuse` for an option that is refused; for the initial
  ///   result also inside a write of this store, and as fetching does.
  /// - Complexity: The initial result is read while writers wait.
  public func observe(
    options: ObservationOptions = [], coalescing: CoalescingPolicy = .standard,
    _ body: @escaping @Sendable (QueryChanges<Element>) -> Void
  ) throws -> ObservationToken {
    try options.check(allowing: .initial, by: .callback, of: query.schema.name)
    let mailbox = Mailbox<QueryDelta>(store.scope, options: options, coalescing: coalescing)
    let schema = query.schema
    mailbox.whenReady { [report = store.scope.report] delta in
      do {
        let changes = try QueryChanges<Element>(delta, schema: schema)
        Wave.$current.withValue(delta.wave.heard(at: ObservedPath(model: schema.name))) {
          body(changes)
        }
      } catch {
        report(StoreError(reporting: error))
      }
    }
    return try begin(mailbox, options)
  }

  /// The changes from now on, for one `for try await` loop. Parameters and errors as for
  /// ``observe(options:coalescing:_:)``; a loop cannot be ``ObservationOptions/synchronous``.
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

  /// Shows another part of the result from now on. Subscribers are told as if rows had come and
  /// gone; the version stays the same.
  ///
  /// - Throws: ``StoreError`` with code `invalidQuery` for a query without limit and offset;
  ///   `misuse` inside a write of this store; as fetching does. Then the window stays.
  /// - Precondition: Neither is negative.
  /// - Complexity: O((log n) × the rows that come or go); where only the window's rows are kept, it
  ///   is read anew. A window that had at most 4096 rows and kept them is given all places when it
  ///   is to have more, read while writers wait, and keeps those from then on.
  public func moveWindow(offset: Int, limit: Int?) throws {
    precondition(offset >= 0 && limit ?? 0 >= 0, "A window's offset and limit are not negative.")
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
