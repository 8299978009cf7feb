internal import Synchronization

/// An observer of one record or of all records of a model, for one subscriber.
final class RecordObserver: ChangeBroker.Observer {
  let fields: ObservedFields
  /// The observed record's key; nil for all records.
  let key: [SQLValue]?
  /// The bag that it was registered in, if any.
  let registrant: Registrant?
  let mailbox: Mailbox<Part>
  private let standing = Mutex(Standing.new)

  private enum Standing {
    case new
    /// It is one of the broker's observers, with this number.
    case entered(UInt64)
    case ended
  }

  /// The bag of an observation, and the context that distinguishes it there from others of the same
  /// path.
  final class Registrant: Sendable {
    weak let bag: ObservationBag?
    let context: String?

    init(bag: ObservationBag, context: String?) {
      self.bag = bag
      self.context = context
    }
  }

  /// - Parameter key: The record to observe; nil for all records.
  init(
    _ fields: ObservedFields, of key: [SQLValue]?, registrant: Registrant? = nil,
    mailbox: Mailbox<Part>
  ) {
    self.fields = fields
    self.key = key
    self.registrant = registrant
    self.mailbox = mailbox
  }

  /// The observed path.
  var path: ObservedPath { fields.path(key) }

  var target: ObservedTarget { ObservedTarget(path: path, isWhole: fields.fields == nil) }

  // Computed on demand, because there may be very many observers.
  var interests: [ChangeBroker.Interest] { [fields.interest(key)] }

  var model: String { fields.schema.name }

  private var isOneRecord: Bool { key != nil }

  /// The part of a commit that concerns the observer.
  struct Part: ObservedEvent {
    let commit: ChangeBroker.Commit
    /// The observer that the part belongs to.
    let observer: RecordObserver

    var version: UInt64 { commit.changes.version }

    struct Folding: EventFolding {
      /// The first commit and the common properties of all, without changes.
      private var frame: ChangeBroker.Commit
      private var changes: Folded<ChangedRecord, RecordChange>
      private let observer: RecordObserver

      init(_ first: Part) {
        observer = first.observer
        frame = first.commit
        changes = Folded()
        frame.changes = ChangeSet(version: first.version, changes: [])
        for change in first.commit.changes.changes {
          changes.fold(observer.identity(of: change)) { _ in change }
        }
      }

      mutating func add(_ later: Part) {
        frame.changes = ChangeSet(version: later.version, changes: [])
        frame.isReset = frame.isReset || later.commit.isReset
        frame.wave = frame.wave.folded(with: later.commit.wave)
        for change in later.commit.changes.changes {
          changes.fold(observer.identity(of: change)) { [observer] earlier in
            guard let earlier else { return change }
            return earlier.followed(by: change, fields: observer.fields.compared)
              .flatMap { observer.isTold($0) ? $0 : nil }
          }
        }
      }

      var isEmpty: Bool { changes.isEmpty && !frame.isReset && !frame.isInitial }

      var event: Part {
        var commit = frame
        commit.changes = ChangeSet(version: frame.changes.version, changes: changes.entries)
        return Part(commit: commit, observer: observer)
      }
    }
  }

  /// Returns the part of a commit that concerns the observer; nil if there is nothing to report.
  private func part(of commit: ChangeBroker.Commit) -> Part? {
    var changes = commit.changes.changes
    if isOneRecord, changes.count > 1 { changes = together(changes) }
    if fields.names != nil, !changes.allSatisfy(isTold) { changes = changes.filter(isTold) }
    guard !changes.isEmpty || commit.isReset || commit.isInitial else { return nil }
    var part = commit
    part.changes = ChangeSet(version: commit.changes.version, changes: changes)
    return Part(commit: part, observer: self)
  }

  /// Returns whether a change touches what is observed.
  private func isTold(_ change: RecordChange) -> Bool {
    guard let names = fields.names, change.operation == .update else { return true }
    return change.fields.contains { names.contains($0.name) }
  }

  /// All changes of an observed single record have the same identity, however its key is spelled.
  private func identity(of change: RecordChange) -> ChangedRecord {
    ChangedRecord(model: change.model, key: isOneRecord ? [] : change.key)
  }

  /// Changing a key to an equivalent one, such as `'abc'` to `'ABC'` under NOCASE, deletes and
  /// inserts the record. Its observer receives this as one change.
  private func together(_ changes: [RecordChange]) -> [RecordChange] {
    guard let first = changes.first(where: { $0.new == nil }),
      let last = changes.last(where: { $0.old == nil })
    else { return changes }
    return first.followed(by: last, fields: fields.compared).map { [$0] } ?? []
  }

  /// Calls `receive` on the delivery queue once for each commit that concerns the observer.
  ///
  /// - Parameter receive: Must not retain the observer, which retains it until it ends.
  func whenReady(_ receive: @escaping @Sendable (Part) -> Void) {
    mailbox.whenReady(receive)
  }

  /// Waits for the next commit and returns it; nil once the observer has ended.
  func next() async -> ChangeBroker.Commit? {
    await mailbox.next()?.commit
  }

  func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
    part(of: commit).map(mailbox.put) ?? []
  }

  func deliver(upTo version: UInt64) { mailbox.deliver(upTo: version) }

  /// Drops undelivered events and makes the current state the first event.
  ///
  /// - Parameter image: The observed record, or nil if it does not exist.
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
    return mailbox.put(Part(commit: commit, observer: self))
  }

  /// Drops undelivered events.
  func forget() { mailbox.forget() }

  // Beginning and ending

  /// Adds the observer to `broker`, which passes it commits until it ends.
  func enter(_ broker: ChangeBroker) {
    let number = broker.enter(self)
    let isLate = standing.withLock { standing in
      if case .ended = standing { return true }
      standing = .entered(number)
      return false
    }
    if isLate { broker.remove(number) }
    // A store that was closed in between did not find it among the observers.
    if mailbox.scope?.hasEnded ?? false { finish() }
  }

  /// Its number among the broker's observers; nil before it is added and after it has ended.
  var number: UInt64? {
    standing.withLock { standing in
      if case .entered(let number) = standing { number } else { nil }
    }
  }

  /// Whether nothing more may be delivered.
  var isEnded: Bool {
    standing.withLock { standing in
      if case .ended = standing { true } else { false }
    }
  }

  func end() {
    mailbox.close()
    leave()
  }

  /// Ends together with its store: a loop can still read the waiting events.
  func finish() {
    mailbox.finish()
    leave()
  }

  private func leave() {
    let former = standing.withLock { standing in
      let former = standing
      standing = .ended
      return former
    }
    if case .entered(let number) = former { mailbox.broker?.remove(number) }
  }
}
