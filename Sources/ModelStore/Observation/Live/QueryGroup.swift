internal import Synchronization

/// An observer that combines the changes of several live results and lists by one commit into one
/// batch.
final class QueryGroup: ChangeBroker.Observer {
  let interests: [ChangeBroker.Interest]
  /// Closures that subscribe to each member.
  private let members: [@Sendable (LiveSubscriber<MemberDelta>) -> @Sendable () -> Void]
  /// The members' deltas of the commit that is being noted.
  private let pending: Mutex<[MemberDelta?]>
  private let mailbox: Mailbox<Batch>

  /// The changes of the members by one commit, with one entry for each; nil for an unchanged
  /// member.
  struct Batch: ObservedEvent {
    var deltas: [MemberDelta?]

    var version: UInt64 { deltas.reduce(0) { max($0, $1?.version ?? 0) } }

    /// The cascade that the commits belong to.
    var wave: Wave {
      let waves = deltas.compactMap { $0?.wave }
      return waves.dropFirst().reduce(waves.first ?? Wave()) { $0.folded(with: $1) }
    }

    struct Folding: EventFolding {
      private var deltas: [MemberDelta.Folding?]

      init(_ first: Batch) {
        deltas = first.deltas.map { $0.map { MemberDelta.Folding($0) } }
      }

      mutating func add(_ later: Batch) {
        for (place, delta) in later.deltas.enumerated() {
          guard let delta else { continue }
          if deltas[place] == nil {
            deltas[place] = MemberDelta.Folding(delta)
          } else {
            deltas[place]?.add(delta)
            if deltas[place]?.isEmpty ?? false { deltas[place] = nil }
          }
        }
      }

      var isEmpty: Bool { deltas.allSatisfy { $0 == nil } }

      var event: Batch { Batch(deltas: deltas.map { $0?.event }) }
    }
  }

  init(
    _ members: [@Sendable (LiveSubscriber<MemberDelta>) -> @Sendable () -> Void],
    models: Set<String>, mailbox: Mailbox<Batch>
  ) {
    self.members = members
    self.mailbox = mailbox
    interests = models.sorted().map { ChangeBroker.Interest(model: $0) }
    pending = Mutex(members.map { _ in nil })
  }

  /// - Returns: For each member, a closure that ends its subscription.
  func subscribe() -> [@Sendable () -> Void] {
    members.enumerated().map { place, subscribe in
      subscribe(
        LiveSubscriber(
          receive: { [weak self] in self?.note($0, at: place) ?? [] },
          wake: { [weak self] in self?.deliver(upTo: $0) }))
    }
  }

  private func note(_ delta: MemberDelta, at place: Int) -> ChangeBroker.Outcome {
    guard delta.isWithoutCommit else {
      pending.withLock { pending in
        // An older delta belongs to a commit before the group was added.
        let earlier = pending[place].flatMap { $0.version == delta.version ? $0 : nil }
        pending[place] = earlier.map { $0.followed(by: delta) } ?? delta
      }
      return []
    }
    // No commit follows that would complete the batch.
    var deltas = members.map { _ in MemberDelta?.none }
    deltas[place] = delta
    return mailbox.put(Batch(deltas: deltas))
  }

  func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
    let batch = pending.withLock { pending in
      // An older delta arrived while the group was being added, and is only a part of its commit.
      let batch = pending.map { $0?.version == commit.version ? $0 : nil }
      for place in pending.indices { pending[place] = nil }
      return batch
    }
    guard batch.contains(where: { $0 != nil }) else { return [] }
    return mailbox.put(Batch(deltas: batch))
  }

  func deliver(upTo version: UInt64) { mailbox.deliver(upTo: version) }
}
