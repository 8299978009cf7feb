internal import Synchronization

/// Watches one record or all records of a model, for one subscriber.
final class RecordObserver: ChangeBroker.Observer {
  let fields: ObservedFields
  /// The observed record's key; nil for all records.
  let key: [SQLValue]?
  private let interest: ChangeBroker.Interest
  /// Who registered it, where that is known.
  let registrant: Registrant?
  private let mailbox: Mailbox<ChangeBroker.Commit>
  private let part: Part
  private let receiver = Mutex(Receiver())
  private let ending = Mutex(Ending())

  /// A closure that is a generic's value by itself is wrapped once more by each access in place, so
  /// that calls grow slower and deeper; as a property it stays what it is.
  private struct Receiver {
    var receive: (@Sendable (ChangeBroker.Commit) -> Void)?
  }

  private struct Ending {
    var isEnded = false
    var leave: (@Sendable () -> Void)?
  }

  /// The bag that an observation is in, and what tells it from others of the same thing there.
  struct Registrant: Sendable {
    weak let bag: ObservationBag?
    let context: String?
  }

  /// - Parameters:
  ///   - key: The record to observe; nil for all records.
  ///   - capacity: The most commits held; further ones are folded into the last.
  init(
    _ fields: ObservedFields, of key: [SQLValue]?, registrant: Registrant? = nil, capacity: Int
  ) {
    self.fields = fields
    self.key = key
    interest = fields.interest(key)
    self.registrant = registrant
    let part = Part(fields: fields, isOneRecord: key != nil)
    self.part = part
    mailbox = Mailbox(capacity: capacity) { early, late in
      part.of(
        ChangeBroker.Commit(
          changes: early.changes.followed(by: late.changes, fields: part.fields.compared),
          isReset: early.isReset || late.isReset, isInitial: early.isInitial,
          wave: early.wave.folded(with: late.wave)))
    }
  }

  /// The name of what is observed.
  var path: ObservedPath { fields.path(key) }

  var interests: [ChangeBroker.Interest] { [interest] }

  var model: String { interest.model }

  /// What of a commit concerns the observer.
  private struct Part: Sendable {
    let fields: ObservedFields
    let isOneRecord: Bool

    /// nil when there is nothing to tell.
    func of(_ commit: ChangeBroker.Commit) -> ChangeBroker.Commit? {
      var changes = commit.changes.changes
      if isOneRecord, changes.count > 1 { changes = together(changes) }
      if let names = fields.names {
        changes = changes.filter { change in
          change.operation != .update || change.fields.contains { names.contains($0.name) }
        }
      }
      guard !changes.isEmpty || commit.isReset || commit.isInitial else { return nil }
      var part = commit
      part.changes = ChangeSet(version: commit.changes.version, changes: changes)
      return part
    }

    /// A record whose key became another that means the same, such as `'abc'` and `'ABC'` under
    /// NOCASE, was deleted and inserted; to its observer that is one change.
    private func together(_ changes: [RecordChange]) -> [RecordChange] {
      guard let first = changes.first(where: { $0.new == nil }),
        let last = changes.last(where: { $0.old == nil })
      else { return changes }
      return first.followed(by: last, fields: fields.compared).map { [$0] } ?? []
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
    Wave.$current.withValue(commit.wave.heard(at: path)) { receive(commit) }
  }

  /// Forgets what was not delivered and tells how it is, as the first thing.
  ///
  /// - Parameter image: The observed record, or nil when there is none.
  func begin(with image: [SQLValue]?, version: UInt64) {
    let changes = image.map { image in
      [
        RecordChange(
          model: fields.schema.name, key: key ?? [], old: nil, new: image, fields: [],
          origin: .foreign, isRecreated: false)
      ]
    }
    mailbox.begin(
      with: ChangeBroker.Commit(
        changes: ChangeSet(version: version, changes: changes ?? []), isReset: false,
        isInitial: true))
  }

  /// Forgets what was not delivered.
  func forget() { mailbox.removeAll() }

  // Ending

  /// Whether nothing more may be told.
  var isEnded: Bool { ending.withLock { $0.isEnded } }

  /// Has `leave` called at the end; at once when it has ended already.
  func end(by leave: @escaping @Sendable () -> Void) {
    let isLate = ending.withLock { ending in
      if !ending.isEnded { ending.leave = leave }
      return ending.isEnded
    }
    if isLate { leave() }
  }

  func end() {
    mailbox.close()
    let leave = ending.withLock { ending in
      ending.isEnded = true
      let leave = ending.leave
      ending.leave = nil
      return leave
    }
    leave?()
  }
}
