extension Store {
  /// Calls `body` once for each commit that changes at least one of several live queries, with what
  /// it did to each of them, from now on: so that a list and what depends on it are never seen in
  /// different states.
  ///
  /// A record or a field is a query, too: `Track.where { $0.id == 7 }`.
  ///
  /// - Parameters:
  ///   - options: With ``ObservationOptions/initial``, the first batch has the present result of
  ///     each query. ``ObservationOptions/prior`` is refused.
  ///   - backlog: What becomes of commits while a call is running or the subscription is paused.
  ///   - body: Called on the delivery queue with the changes of each query, in the order given, nil
  ///     for those that the commit did not change. Moving one query's window is a batch of its own.
  /// - Returns: Keep it: dropping it ends the observation. It keeps the queries alive.
  /// - Throws: ``StoreError`` with code `misuse` for an option that is refused; for initial results
  ///   also inside a write of this store, and as fetching does.
  public func observe<each Element: Fetchable>(
    _ queries: repeat LiveQuery<each Element>, options: ObservationOptions = [],
    backlog: Backlog = .standard,
    body: @escaping @Sendable (repeat QueryChanges<each Element>?) -> Void
  ) throws -> Subscription {
    try options.check(allowing: .initial, by: .callback, of: "several queries")
    let mailbox = Mailbox<QueryGroup.Batch>(core.broker, options: options, backlog: backlog)
    let report = core.report
    mailbox.whenReady { batch in
      do {
        var rest = batch.deltas.makeIterator()
        let changes = (repeat try (each queries).changes(rest.next() ?? nil))
        body(repeat each changes)
      } catch {
        report(StoreError(reporting: error))
      }
    }
    return try begin(mailbox, repeat each queries, options: options)
  }

  /// What commits do to several live queries, batch by batch, for one `for try await` loop.
  /// Parameters and errors as for ``observe(_:options:backlog:body:)``; a loop cannot be
  /// ``ObservationOptions/synchronous``.
  public func changes<each Element: Fetchable>(
    of queries: repeat LiveQuery<each Element>, options: ObservationOptions = [],
    backlog: Backlog = .standard
  ) throws -> ObservedChanges<(repeat QueryChanges<each Element>?)> {
    try options.check(allowing: .initial, by: .loop, of: "several queries")
    let mailbox = Mailbox<QueryGroup.Batch>(core.broker, backlog: backlog)
    let subscription = try begin(mailbox, repeat each queries, options: options)
    return ObservedChanges(subscription: subscription, report: core.report) {
      guard let batch = await mailbox.next() else { return nil }
      var rest = batch.deltas.makeIterator()
      return (repeat try (each queries).changes(rest.next() ?? nil))
    }
  }

  private func begin<each Element: Fetchable>(
    _ mailbox: Mailbox<QueryGroup.Batch>, _ queries: repeat LiveQuery<each Element>,
    options: ObservationOptions
  ) throws -> Subscription {
    var sources: [any LiveSource] = []
    for query in repeat each queries { sources.append(query.source) }
    let group = QueryGroup(sources, mailbox: mailbox)
    let broker = core.broker
    func subscribe() -> Subscription {
      // Behind the queries' own results, so that those have noted a commit when the group does.
      let ends = group.subscribe() + [broker.add(group)]
      return Subscription(mailbox) {
        mailbox.close()
        for end in ends { end() }
      }
    }
    guard options.contains(.initial) else { return subscribe() }
    return try LiveStore(core).whileNobodyWrites { reading in
      var initial = QueryGroup.Batch(deltas: [])
      var version: UInt64
      // Reading one may find that another process has written, so that those before are of old.
      repeat {
        version = broker.version
        initial.deltas = []
        for query in repeat each queries {
          initial.deltas.append(try reading.initial(query.query, query.source))
        }
      } while broker.version != version
      let outcome = mailbox.put(initial)
      let subscription = subscribe()
      broker.enqueue(for: outcome) { [version] in mailbox.deliver(upTo: version) }
      return subscription
    }
  }
}
