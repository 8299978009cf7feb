internal import Synchronization

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
