internal import Synchronization

/// Watches one record or all records of a model, for one subscriber.
final class RecordObserver: ChangeBroker.Observer {
  let fields: ObservedFields
  /// The observed record's key; nil for all records.
  let key: [SQLValue]?
  private let interest: ChangeBroker.Interest
  /// Who registered it, where that is known.
  let registrant: Registrant?
  let mailbox: Mailbox<Part>
  private let ending = Mutex(Ending())

  private struct Ending {
    var isEnded = false
    var leave: (@Sendable () -> Void)?
  }

  /// The bag that an observation is in, and what tells it from others of the same thing there.
  struct Registrant: Sendable {
    weak let bag: ObservationBag?
    let context: String?
  }

  /// - Parameter key: The record to observe; nil for all records.
  init(
    _ fields: ObservedFields, of key: [SQLValue]?, registrant: Registrant? = nil,
    mailbox: Mailbox<Part>
  ) {
    self.fields = fields
    self.key = key
    interest = fields.interest(key)
    self.registrant = registrant
    self.mailbox = mailbox
  }

  /// The name of what is observed.
  var path: ObservedPath { fields.path(key) }

  var target: ObservedTarget { ObservedTarget(path: path, isWhole: fields.fields == nil) }

  var interests: [ChangeBroker.Interest] { [interest] }

  var model: String { interest.model }

  private var rule: Rule { Rule(fields: fields, isOneRecord: key != nil) }

  /// What of a commit concerns the observer.
  struct Part: ObservedEvent {
    let commit: ChangeBroker.Commit
    fileprivate let rule: Rule

    var version: UInt64 { commit.changes.version }

    struct Folding: EventFolding {
      /// The first commit, and what is true of all of them; without changes.
      private var frame: ChangeBroker.Commit
      private var changes: Folded<ChangedRecord, RecordChange>
      private let rule: Rule

      init(_ first: Part) {
        rule = first.rule
        frame = first.commit
        changes = Folded()
        frame.changes = ChangeSet(version: first.version, changes: [])
        for change in first.commit.changes.changes {
          changes.fold(rule.identity(of: change)) { _ in change }
        }
      }

      mutating func add(_ later: Part) {
        frame.changes = ChangeSet(version: later.version, changes: [])
        frame.isReset = frame.isReset || later.commit.isReset
        frame.wave = frame.wave.folded(with: later.commit.wave)
        for change in later.commit.changes.changes {
          changes.fold(rule.identity(of: change)) { [rule] earlier in
            guard let earlier else { return change }
            return earlier.followed(by: change, fields: rule.fields.compared)
              .flatMap { rule.isTold($0) ? $0 : nil }
          }
        }
      }

      var isEmpty: Bool { changes.isEmpty && !frame.isReset && !frame.isInitial }

      var event: Part {
        var commit = frame
        commit.changes = ChangeSet(version: frame.changes.version, changes: changes.entries)
        return Part(commit: commit, rule: rule)
      }
    }
  }

  /// Tells what of a commit concerns the observer.
  fileprivate struct Rule: Sendable {
    let fields: ObservedFields
    let isOneRecord: Bool

    /// nil when there is nothing to tell.
    func part(of commit: ChangeBroker.Commit) -> Part? {
      var changes = commit.changes.changes
      if isOneRecord, changes.count > 1 { changes = together(changes) }
      if fields.names != nil { changes = changes.filter(isTold) }
      guard !changes.isEmpty || commit.isReset || commit.isInitial else { return nil }
      var part = commit
      part.changes = ChangeSet(version: commit.changes.version, changes: changes)
      return Part(commit: part, rule: self)
    }

    /// Whether a change touches what is observed.
    func isTold(_ change: RecordChange) -> Bool {
      guard let names = fields.names, change.operation == .update else { return true }
      return change.fields.contains { names.contains($0.name) }
    }

    /// All changes of one record are of the same, however its key is spelled.
    func identity(of change: RecordChange) -> ChangedRecord {
      ChangedRecord(model: change.model, key: isOneRecord ? [] : change.key)
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
    mailbox.whenReady { [fields, key] part in
      Wave.$current.withValue(part.commit.wave.heard(at: fields.path(key))) {
        receive(part.commit)
      }
    }
  }

  /// The next commit, waited for; nil once the observer has ended.
  func next() async -> ChangeBroker.Commit? {
    await mailbox.next()?.commit
  }

  func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
    rule.part(of: commit).map(mailbox.put) ?? []
  }

  func deliver(upTo version: UInt64) { mailbox.deliver(upTo: version) }

  /// Forgets what was not delivered and tells how it is, as the first thing.
  ///
  /// - Parameter image: The observed record, or nil when there is none.
  func begin(with image: [SQLValue]?, version: UInt64) -> ChangeBroker.Outcome {
    let changes = image.map { image in
      [
        RecordChange(
          model: fields.schema.name, key: fields.schema.keyIndices.map { image[$0] }, old: nil,
          new: image, fields: [],
          origin: .foreign, isRecreated: false)
      ]
    }
    let commit = ChangeBroker.Commit(
      changes: ChangeSet(version: version, changes: changes ?? []), isReset: false, isInitial: true)
    mailbox.forget()
    return mailbox.put(Part(commit: commit, rule: rule))
  }

  /// Forgets what was not delivered.
  func forget() { mailbox.forget() }

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
