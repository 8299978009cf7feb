internal import Synchronization

/// Collects what one commit does to several live results, and hands it on as one batch.
final class QueryGroup: ChangeBroker.Observer {
  let interests: [ChangeBroker.Interest]
  private let sources: [any LiveSource]
  /// What the members told of the commit that is being noted.
  private let pending: Mutex<[QueryDelta?]>
  private let mailbox: Mailbox<Batch>

  /// What one commit did to the members, with one place for each; nil where it did nothing.
  struct Batch: ObservedEvent {
    var deltas: [QueryDelta?]

    var version: UInt64 { deltas.reduce(0) { max($0, $1?.new.version ?? 0) } }

    struct Folding: EventFolding {
      private var deltas: [QueryDelta.Folding?]

      init(_ first: Batch) {
        deltas = first.deltas.map { $0.map { QueryDelta.Folding($0) } }
      }

      mutating func add(_ later: Batch) {
        for (place, delta) in later.deltas.enumerated() {
          guard let delta else { continue }
          if deltas[place] == nil {
            deltas[place] = QueryDelta.Folding(delta)
          } else {
            deltas[place]?.add(delta)
            if deltas[place]?.isEmpty ?? false { deltas[place] = nil }
          }
        }
      }

      var version: UInt64 { deltas.reduce(0) { max($0, $1?.version ?? 0) } }

      var isEmpty: Bool { deltas.allSatisfy { $0 == nil } }

      var event: Batch { Batch(deltas: deltas.map { $0?.event }) }
    }
  }

  init(_ sources: [any LiveSource], mailbox: Mailbox<Batch>) {
    self.sources = sources
    self.mailbox = mailbox
    let models = Set(sources.flatMap(\.models))
    interests = models.sorted().map { ChangeBroker.Interest(model: $0) }
    pending = Mutex(sources.map { _ in nil })
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
    var deltas = sources.map { _ in QueryDelta?.none }
    deltas[place] = delta
    return mailbox.put(Batch(deltas: deltas))
  }

  func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
    let batch = pending.withLock { pending in
      let batch = pending
      for place in pending.indices { pending[place] = nil }
      return batch
    }
    guard batch.contains(where: { $0 != nil }) else { return [] }
    return mailbox.put(Batch(deltas: batch))
  }

  func deliver(upTo version: UInt64) { mailbox.deliver(upTo: version) }
}
