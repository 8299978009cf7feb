internal import Synchronization

/// Watches one record or all records of a model, for one subscriber.
final class RecordObserver: ChangeBroker.Observer {
  let interest: ChangeBroker.Interest
  private let mailbox: Mailbox<ChangeBroker.Commit>
  private let names: Set<String>?
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
    self.interest = interest
    self.names = names
    // Others are not read: their places in the records hold NULL or a value, as it happens.
    let fields = schema.fields.enumerated()
      .filter { index, _ in interest.fields?.contains(index) ?? true }
      .map { (index: $0.offset, name: $0.element.name) }
    mailbox = Mailbox(capacity: capacity) { early, late in
      let changes = early.changes.followed(by: late.changes, fields: fields)
      let isReset = early.isReset || late.isReset
      return changes.isEmpty && !isReset
        ? nil : ChangeBroker.Commit(changes: changes, isReset: isReset)
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

  func note(_ commit: ChangeBroker.Commit) -> Bool {
    var commit = commit
    if let names {
      commit.changes = ChangeSet(
        version: commit.changes.version,
        changes: commit.changes.changes.filter { change in
          change.operation != .update || change.fields.contains { names.contains($0.name) }
        })
    }
    guard !commit.changes.isEmpty || commit.isReset else { return false }
    mailbox.put(commit)
    return true
  }

  func deliver() {
    guard let receive = receiver.withLock({ $0.receive }), let commit = mailbox.take() else {
      return
    }
    receive(commit)
  }

  func end() { mailbox.close() }
}
