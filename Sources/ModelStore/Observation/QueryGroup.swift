internal import Synchronization

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

/// Collects what one commit does to several live results, and hands it on as one batch.
final class QueryGroup: ChangeBroker.Observer {
  let interests: [ChangeBroker.Interest]
  private let sources: [any LiveSource]
  /// What the members told of the commit that is being noted.
  private let pending: Mutex<[QueryDelta?]>
  private let mailbox: Mailbox<[QueryDelta?]>
  private let receive: @Sendable ([QueryDelta?]) -> Void

  /// - Parameter receive: Called on the delivery queue, with one place for each source.
  init(
    _ sources: [any LiveSource], capacity: Int,
    receive: @escaping @Sendable ([QueryDelta?]) -> Void
  ) {
    self.sources = sources
    self.receive = receive
    let models = Set(sources.flatMap(\.models))
    interests = models.sorted().map { ChangeBroker.Interest(model: $0) }
    pending = Mutex(sources.map { _ in nil })
    mailbox = Mailbox(capacity: capacity) { early, late in
      let both = zip(early, late).map { early, late -> QueryDelta? in
        guard let early, let late else { return early ?? late }
        return early.followed(by: late)
      }
      return both.contains { $0 != nil } ? both : nil
    }
  }

  /// - Returns: What ends it, for each source.
  func subscribe() -> [@Sendable () -> Void] {
    sources.enumerated().map { place, source in
      source.subscribe(
        LiveSubscriber(
          receive: { [weak self] in self?.note($0, at: place) ?? [] },
          wake: { [weak self] in self?.deliver(upTo: $0) }))
    }
  }

  private func note(_ delta: QueryDelta, at place: Int) -> ChangeBroker.Outcome {
    guard delta.old.version == delta.new.version else {
      pending.withLock { $0[place] = $0[place].map { $0.followed(by: delta) } ?? delta }
      return []
    }
    // A window that was moved: no commit follows that would complete the batch.
    var batch = sources.map { _ in QueryDelta?.none }
    batch[place] = delta
    mailbox.put(batch)
    return .ready
  }

  func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
    let batch = pending.withLock { pending in
      let batch = pending
      for place in pending.indices { pending[place] = nil }
      return batch
    }
    guard batch.contains(where: { $0 != nil }) else { return [] }
    mailbox.put(batch)
    return .ready
  }

  func deliver(upTo version: UInt64) {
    let isDue = { (batch: [QueryDelta?]) in batch.allSatisfy { $0?.new.version ?? 0 <= version } }
    if let batch = mailbox.take(if: isDue) { receive(batch) }
  }

  func end() { mailbox.close() }
}
