internal import Synchronization

/// An observer of one record or of all records of a model, for one subscriber.
///
/// There may be very many. So it is one object: its own mailbox, and its own entry in the
/// ``RecordTable`` of the broker. What observers of the same fields have in common is in
/// ``ObservedFields``.
class RecordObserver: Mailbox<RecordPart>, ChangeBroker.Observer, @unchecked Sendable {
  // Guard: its own properties are constants and an atomic.

  let fields: ObservedFields
  /// Its number among the broker's observers, or one of the marks below.
  private let standing = Atomic<UInt64>(RecordObserver.isNew)
  /// The observed record's key; nil for all records.
  private final let record: RecordKey?

  private static let isNew: UInt64 = 0
  private static let hasEnded = UInt64.max

  /// - Parameter key: The record to observe; nil for all records.
  init(
    _ fields: ObservedFields, of key: [SQLValue]?, in scope: ObservationScope? = nil,
    options: ObservationOptions = [], coalescing: CoalescingPolicy
  ) {
    self.fields = fields
    record = key.map { RecordKey($0) }
    super.init(scope, options: options, coalescing: coalescing)
  }

  /// The bag that it was registered in, if any; see ``BagObserver``.
  var bag: ObservationBag? { nil }

  /// The context that distinguishes it from others of the same path in its bag.
  var context: String? { nil }

  /// The observed record's key; nil for all records.
  final var key: [SQLValue]? { record?.values }

  /// The identity of the observed record, which finds it in the ``RecordTable``.
  ///
  /// - Precondition: It observes one record.
  final var recordIdentity: RecordIdentity {
    guard let record else {
      preconditionFailure("An observer of all records is not found by a key.")
    }
    return fields.identity(observed: record)
  }

  /// The observed path.
  final var path: ObservedPath { fields.path(key) }

  final var target: ObservedTarget {
    ObservedTarget(path: path, isWhole: fields.fields == nil)
  }

  // Computed on demand, because there may be very many observers.
  final var interests: [ChangeBroker.Interest] { [fields.interest(key)] }

  final var model: String { fields.schema.name }

  /// Its receiver is called in the cascade of each commit, extended by its path.
  final var extendsCascade: Bool { true }

  final var isOfAllRecords: Bool { record == nil }

  /// Returns the part of a commit that concerns the observer; nil if there is nothing to report.
  private func part(of commit: ChangeBroker.Commit) -> RecordPart? {
    let told: ChangeBroker.Commit.Part
    switch commit.part {
    case .one(let change): told = isTold(change) ? commit.part : .several([])
    case .several(let changes):
      let exact = changes.count <= 1 || isOfAllRecords ? changes : together(changes)
      let isWhole = fields.names == nil || exact.allSatisfy(isTold)
      told = .several(isWhole ? exact : exact.filter(isTold))
    }
    let part = ChangeBroker.Commit(
      commit.frame, told, isReset: commit.isReset, isInitial: commit.isInitial)
    guard part.hasChanges || part.isReset || part.isInitial else { return nil }
    return RecordPart(commit: part, observer: self)
  }

  /// Returns whether a change touches what is observed.
  fileprivate final func isTold(_ change: RecordChange) -> Bool {
    guard let names = fields.names, change.operation == .update else { return true }
    // Nearly always one name of each, which are the same text in memory.
    return change.fields.contains { field in names.contains { $0 == field.name } }
  }

  /// All changes of an observed single record have the same identity, however its key is spelled.
  fileprivate final func identity(of change: RecordChange) -> ChangedRecord {
    ChangedRecord(model: change.model, key: isOfAllRecords ? change.recordKey : .values([]))
  }

  /// Changing a key to an equivalent one, such as `'abc'` to `'ABC'` under NOCASE, deletes and
  /// inserts the record. Its observer receives this as one change.
  private func together(_ changes: [RecordChange]) -> [RecordChange] {
    guard let first = changes.first(where: { $0.new == nil }),
      let last = changes.last(where: { $0.old == nil })
    else { return changes }
    return first.followed(by: last, fields: fields.compared).map { [$0] } ?? []
  }

  /// Waits for the next commit and returns it; nil once the observer has ended.
  final func nextCommit() async -> ChangeBroker.Commit? {
    await next()?.commit
  }

  final func note(_ commit: ChangeBroker.Commit) -> ChangeBroker.Outcome {
    part(of: commit).map(put) ?? []
  }

  /// Drops undelivered events and makes the current state the first event.
  ///
  /// - Parameter image: The observed record, or nil if it does not exist.
  final func begin(with image: [SQLValue]?, version: UInt64) -> ChangeBroker.Outcome {
    let changes = image.map { image in
      [
        RecordChange(
          model: fields.schema.name, key: fields.schema.keyIndices.map { image[$0] }, old: nil,
          new: image, fields: [],
          origin: .foreign, isRecreated: false)
      ]
    }
    let commit = ChangeBroker.Commit(
      ChangeBroker.Commit.Frame(version: version), .several(changes ?? []), isReset: false,
      isInitial: true)
    forget()
    return put(RecordPart(commit: commit, observer: self))
  }

  // Beginning and ending

  /// Adds the observer to `broker`, which passes it commits until it ends.
  final func enter(_ broker: ChangeBroker) {
    broker.enter(self)
    // A store that was closed in between did not find it among the observers.
    if scope?.hasEnded ?? false { leave(after: finish) }
  }

  /// Called by the broker, which is locked, when it adds the observer as `number`.
  ///
  /// - Returns: Whether it is to be added: it has not ended.
  final func begins(as number: UInt64) -> Bool {
    standing.compareExchange(
      expected: Self.isNew, desired: number, ordering: .sequentiallyConsistent
    ).exchanged
  }

  /// Its number among the broker's observers; nil before it is added and after it has ended.
  final var number: UInt64? {
    let number = standing.load(ordering: .sequentiallyConsistent)
    return number == Self.isNew || number == Self.hasEnded ? nil : number
  }

  /// Whether nothing more may be delivered.
  final var isEnded: Bool { standing.load(ordering: .sequentiallyConsistent) == Self.hasEnded }

  final func end() { leave(after: close) }

  /// Ends together with its store: a loop can still read the waiting events.
  final func endWithStore() { leave(after: finish) }

  private func leave(after ending: () -> Void) {
    ending()
    let former = standing.exchange(Self.hasEnded, ordering: .sequentiallyConsistent)
    guard former != Self.isNew, former != Self.hasEnded else { return }
    broker?.remove(self, number: former)
  }
}

extension RecordObserver: Subscription {
  var outlet: any Outlet { self }

  // A loop whose store was closed goes on with the events that wait.
  var isCancelled: Bool { isClosed }

  func cancel() { end() }
}

/// An observer that belongs to a bag.
final class BagObserver: RecordObserver, @unchecked Sendable {
  // Guard: its own properties are constants.

  private weak let owner: ObservationBag?
  private let name: String?

  override var bag: ObservationBag? { owner }
  override var context: String? { name }

  init(
    _ fields: ObservedFields, of key: [SQLValue]?, in scope: ObservationScope? = nil,
    bag: ObservationBag, context: String? = nil, options: ObservationOptions,
    coalescing: CoalescingPolicy
  ) {
    owner = bag
    name = context
    super.init(fields, of: key, in: scope, options: options, coalescing: coalescing)
  }
}

/// The part of a commit that concerns an observer of records.
struct RecordPart: ObservedEvent {
  let commit: ChangeBroker.Commit
  /// The observer that the part belongs to.
  let observer: RecordObserver

  var version: UInt64 { commit.version }

  struct Folding: EventFolding {
    private var version: UInt64
    private var wave: Wave
    private var isReset: Bool
    private let isInitial: Bool
    private var changes = Folded<ChangedRecord, RecordChange>()
    private let observer: RecordObserver

    init(_ first: RecordPart) {
      observer = first.observer
      version = first.version
      wave = first.commit.frame.wave
      isReset = first.commit.isReset
      isInitial = first.commit.isInitial
      for change in first.commit.changes {
        changes.fold(observer.identity(of: change)) { _ in change }
      }
    }

    mutating func add(_ later: RecordPart) {
      version = later.version
      wave = wave.folded(with: later.commit.frame.wave)
      isReset = isReset || later.commit.isReset
      for change in later.commit.changes {
        changes.fold(observer.identity(of: change)) { [observer] earlier in
          guard let earlier else { return change }
          return earlier.followed(by: change, fields: observer.fields.compared)
            .flatMap { observer.isTold($0) ? $0 : nil }
        }
      }
    }

    var isEmpty: Bool { changes.isEmpty && !isReset && !isInitial }

    var event: RecordPart {
      RecordPart(
        commit: ChangeBroker.Commit(
          ChangeBroker.Commit.Frame(version: version, wave: wave), .several(changes.entries),
          isReset: isReset, isInitial: isInitial),
        observer: observer)
    }
  }
}
