internal import Synchronization

/// The observations of one store, which end when that store closes. Stores on one file share a
/// broker; each has its own scope.
final class ObservationScope: Sendable {
  /// Unique among the scopes of the process.
  let number = numbers.add(1, ordering: .relaxed).newValue
  let broker: ChangeBroker
  /// Receives errors that cannot be thrown to a caller.
  let report: @Sendable (StoreError) -> Void
  private let monitors: Monitors?
  /// The bags of observing objects that do not hold a bag themselves.
  let ownedBags = OwnedBags()
  private let isOver = Atomic(false)
  private let state = Mutex(State())

  private static let numbers = Atomic<UInt64>(0)

  /// An observation that is not a ``RecordObserver``. There may be very many record observers, so
  /// the scope finds those in the broker instead.
  private struct Member {
    let paths: [ObservedPath]
    /// The number of the broker's latest observer when this observation began.
    let predecessor: UInt64
    let end: @Sendable () -> Void
  }

  private struct State {
    var members: [UInt64: Member] = [:]
    var nextNumber: UInt64 = 0
  }

  init(
    _ broker: ChangeBroker, monitors: Monitors? = nil,
    report: @escaping @Sendable (StoreError) -> Void
  ) {
    self.broker = broker
    self.monitors = monitors
    self.report = report
  }

  /// Reports an observation with that many waiting events.
  func reportBacklog(_ eventCount: Int) { monitors?.send(.backlog(eventCount: eventCount)) }

  /// Whether the store has been closed or released.
  var hasEnded: Bool { isOver.load(ordering: .sequentiallyConsistent) }

  /// Adds an observation. The scope calls `end` when it ends, or at once when it has already ended.
  ///
  /// - Parameter paths: What is observed.
  /// - Returns: A closure that removes the observation, for one that ends by itself.
  func add(_ paths: [ObservedPath], end: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let member = Member(paths: paths, predecessor: broker.latestObserver, end: end)
    let number = state.withLock { state -> UInt64? in
      guard !hasEnded else { return nil }
      state.nextNumber += 1
      state.members[state.nextNumber] = member
      return state.nextNumber
    }
    guard let number else {
      end()
      return {}
    }
    return { [weak self] in
      let removed = self?.state.withLock { $0.members.removeValue(forKey: number) }
      // Released outside the lock: the member's deinitialization may run the caller's code.
      withExtendedLifetime(removed) {}
    }
  }

  /// The number of observations that ``add(_:end:)`` has added and that have not ended.
  var memberCount: Int { state.withLock { $0.members.count } }

  /// Ends every observation: no further callback is called, and loops finish.
  ///
  /// - Returns: false when it had already ended.
  func end() -> Bool {
    let members = state.withLock { state -> [UInt64: Member]? in
      guard !isOver.exchange(true, ordering: .sequentiallyConsistent) else { return nil }
      defer { state.members = [:] }
      return state.members
    }
    guard let members else { return false }
    for (_, member) in members.sorted(by: { $0.key < $1.key }) { member.end() }
    for observer in recordObservers {
      observer.endWithStore()
      observer.bag?.drop(observer)
    }
    ownedBags.removeAll()
    return true
  }

  /// The scope's observers of records, in the order of registration.
  ///
  /// - Complexity: O(n log n) for n observers of the broker.
  var recordObservers: [RecordObserver] {
    broker.observers.compactMap { observer in
      guard let record = observer as? RecordObserver, record.scope === self else {
        return nil
      }
      return record
    }
  }

  /// Every observation, in the order in which they began.
  ///
  /// - Complexity: O(n log n) for n observers of the broker.
  var entries: [ObservationEntry] {
    var numbered = state.withLock { state in
      state.members.sorted { $0.key < $1.key }.flatMap { _, member in
        member.paths.map { path in
          (member.predecessor, 1, ObservationEntry(path: path, bag: nil, context: nil))
        }
      }
    }
    numbered += recordObservers.compactMap { record in
      record.number.map { number in
        (
          number, 0,
          ObservationEntry(path: record.path, bag: record.bag, context: record.context)
        )
      }
    }
    // A stable sort: a member comes after the observer that precedes it.
    return numbered.enumerated()
      .sorted { left, right in
        (left.element.0, left.element.1, left.offset)
          < (right.element.0, right.element.1, right.offset)
      }
      .map(\.element.2)
  }
}
