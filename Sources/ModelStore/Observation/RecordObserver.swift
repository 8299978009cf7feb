/// Watches one record or all records of a model, for one subscriber.
final class RecordObserver: ChangeBroker.Observer {
  let interest: ChangeBroker.Interest
  private let mailbox: Mailbox<ChangeBroker.Commit>
  private let names: Set<String>?
  private let receive: @Sendable (ChangeBroker.Commit) -> Void

  /// - Parameters:
  ///   - schema: The observed model.
  ///   - names: The names of the fields that count; nil for all.
  ///   - receive: Called on the delivery queue, once for each commit that concerns the observer;
  ///     commits are folded when it does not keep up.
  init(
    interest: ChangeBroker.Interest, schema: ModelSchema, names: Set<String>?, capacity: Int,
    receive: @escaping @Sendable (ChangeBroker.Commit) -> Void
  ) {
    self.interest = interest
    self.names = names
    self.receive = receive
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
    if let commit = mailbox.take() { receive(commit) }
  }

  func end() { mailbox.close() }
}
