extension Store {
  /// Calls `body` once for each commit that changes at least one of several live queries, with what
  /// it did to each of them, from now on: so that a list and what depends on it are never seen in
  /// different states.
  ///
  /// A record or a field is a query too: `Track.where { $0.id == 7 }`.
  ///
  /// - Parameter body: Called on the delivery queue with the changes of each query, in the order
  ///   given, nil for those that the commit did not change. Moving one query's window is a batch of
  ///   its own. A subscriber that falls behind by more than the mailbox's capacity gets several
  ///   commits as one.
  /// - Returns: Keep it: dropping it ends the observation. It keeps the queries alive.
  public func observe<each Element: Fetchable>(
    _ queries: repeat LiveQuery<each Element>,
    body: @escaping @Sendable (repeat QueryChanges<each Element>?) -> Void
  ) -> Subscription {
    var sources: [any LiveSource] = []
    for query in repeat each queries { sources.append(query.source) }
    let report = core.report
    let group = QueryGroup(sources, capacity: core.configuration.mailboxCapacity) { deltas in
      do {
        var rest = deltas.makeIterator()
        let changes = (repeat try (each queries).changes(rest.next() ?? nil))
        body(repeat each changes)
      } catch {
        report(StoreError(reporting: error))
      }
    }
    // Behind the queries' own results, so that those have noted a commit when the group does.
    let ends = group.subscribe() + [core.broker.add(group)]
    return Subscription {
      group.end()
      for end in ends { end() }
    }
  }
}
