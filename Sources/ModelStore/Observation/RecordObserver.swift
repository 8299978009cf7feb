internal import Synchronization

/// Watches one record or all records of a model, for one subscriber.
final class RecordObserver: ChangeBroker.Observer {
  let interests: [ChangeBroker.Interest]
  private let mailbox: Mailbox<ChangeBroker.Commit>
  private let part: Part
  private let receiver = Mutex(Receiver())

  /// A closure that is a generic's value by itself is wrapped once more by each access in place, so
  /// that calls grow slower and deeper; as a property it stays what it is.
  private struct Receiver {
    var receive: (@Sendable (ChangeBroker.Commit) -> Void)?
  }

  /// - Parameters:
  ///   - schema: The observed model.
  ///   - names: The names of the fields of which an update must touch one; nil for all.
  ///   - capacity: The most commits held; further ones are folded into the last.
  init(
    interest: ChangeBroker.Interest, schema: ModelSchema, names: Set<String>?, capacity: Int
  ) {
    interests = [interest]
    // Others are not read: their places in the records hold NULL or a value, as it happens.
    let fields = schema.fields.enumerated()
      .filter { index, _ in interest.fields?.contains(index) ?? true }
      .map { (index: $0.offset, name: $0.element.name) }
    let part = Part(names: names, fields: fields, isOneRecord: interest.isOneRecord)
    self.part = part
    mailbox = Mailbox(capacity: capacity) { early, late in
      part.of(
        ChangeBroker.Commit(
          changes: early.changes.followed(by: late.changes, fields: fields),
          isReset: early.isReset || late.isReset))
    }
  }

  /// What of a commit concerns the observer.
  private struct Part: Sendable {
    let names: Set<String>?
    let fields: [(index: Int, name: String)]
    let isOneRecord: Bool

    /// nil when there is nothing to tell.
    func of(_ commit: ChangeBroker.Commit) -> ChangeBroker.Commit? {
      var changes = commit.changes.changes
      if isOneRecord, changes.count > 1 { changes = together(changes) }
      if let names {
        changes = changes.filter { change in
          change.operation != .update || change.fields.contains { names.contains($0.name) }
        }
      }
      guard !changes.isEmpty || commit.isReset else { return nil }
      return ChangeBroker.Commit(
        changes: ChangeSet(version: commit.changes.version, changes: changes),
        isReset: commit.isReset)
    }

    /// A record whose key became another that means the same, such as `'abc'` and `'ABC'` under
    /// NOCASE, was deleted and inserted; to its observer that is one change.
    private func together(_ changes: [RecordChange]) -> [RecordChange] {
      guard let first = changes.first(where: { $0.new == nil }),
        let last = changes.last(where: { $0.old == nil })
      else { return changes }
      return first.followed(by: last, fields: fields).map { [$0] } ?? []
    }
  }

  /// Has `receive` called on the delivery queue, once for each commit that concerns the observer.
  func whenReady(_ receive: @escaping @Sendable (ChangeBroker.Commit) -> Void) {
    receiver.withLock { $0.receive = receive }
  }

  /// The next commit, waited for; nil once the observer has ended.
  func next() async -> ChangeBroker.Commit? {
    await mailbox.next()
  }

  func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
    guard let part = part.of(commit) else { return [] }
    mailbox.put(part)
    return .ready
  }

  func deliver(upTo version: UInt64) {
    guard let receive = receiver.withLock({ $0.receive }),
      let commit = mailbox.take(if: { $0.changes.version <= version })
    else { return }
    receive(commit)
  }

  func end() { mailbox.close() }
}

extension ChangeBroker.Interest {
  fileprivate var isOneRecord: Bool {
    if case .one = records { true } else { false }
  }
}
