internal import Synchronization

/// An observation of one field of several records, such as those on screen, which you can move to
/// other records.
///
/// Releasing it ends the observation. To observe which records exist, use a ``LiveQuery``.
public final class RecordWindow<Key: ModelKey>: Sendable {
  private let enter: @Sendable (Key) throws -> Void
  private let leave: @Sendable (Key) -> Void
  private let bag: ObservationBag
  // Not held while observations begin and end: they may wait for a write that waits for this lock.
  private let observed = Mutex<Set<Key>>([])

  init(
    bag: ObservationBag, enter: @escaping @Sendable (Key) throws -> Void,
    leave: @escaping @Sendable (Key) -> Void
  ) {
    self.bag = bag
    self.enter = enter
    self.leave = leave
  }

  /// The keys of the observed records.
  public var keys: Set<Key> { observed.withLock { $0 } }

  /// Observes exactly the records with these keys. Observations of records that stay continue, new
  /// ones begin, and the rest end.
  ///
  /// After it has returned, no new callback for a removed record begins.
  ///
  /// - Throws: ``StoreError``; with code `misuse` inside a write if the current values are
  ///   requested. The window then contains the records that were reached.
  /// - Complexity: Linear in the keys before and after, independent of other observations.
  public func move(to keys: some Collection<Key>) throws {
    var entering: [Key] = []
    let target = Set(keys)
    let leaving = observed.withLock { observed in
      var seen = observed
      entering = keys.filter { seen.insert($0).inserted }
      let leaving = observed.subtracting(target)
      observed = target
      return leaving
    }
    do {
      for key in leaving { try settle(key) }
      while let key = entering.first {
        try settle(key)
        entering.removeFirst()
      }
    } catch {
      observed.withLock { $0.subtract(entering) }
      throw error
    }
  }

  /// Begins or ends the observation of one record, and repeats until it matches `keys`. Another
  /// thread may move the window at the same time.
  private func settle(_ key: Key) throws {
    var isSettled = false
    while !isSettled {
      let isWanted = keys.contains(key)
      if isWanted { try enter(key) } else { leave(key) }
      isSettled = keys.contains(key) == isWanted
    }
  }

  /// Ends all observations. You can move the window again afterwards.
  public func cancel() {
    observed.withLock { $0 = [] }
    bag.removeAll()
  }
}
