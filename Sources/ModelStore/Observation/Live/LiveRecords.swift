public import Observation
internal import Synchronization

/// The records of a query, kept up to date for the standard library's Observation: a list for a
/// view. For one record use ``LiveRecord``; for indices of what changed, use ``LiveQuery``.
///
/// ```swift
/// let shelf = try store.liveRecords(Book.all.order { $0.title })
/// for await titles in Observations({ shelf.records.map(\.title) }) {
///   list.show(titles)
/// }
/// ```
///
/// The records change on the store's delivery queue, in its turn among the callbacks. Commits that
/// come faster are taken as one. As with ``LiveRecord``, the new records are there already when the
/// change is announced. You may read them on any thread. The list follows its query for as long as
/// you hold it, and does not keep the store open.
public final class LiveRecords<Element: Fetchable>: Observable, Sendable {
  private struct State {
    var records: [Element] = []
    /// Whether the records miss a change and must be read again.
    var isStale = false
    /// The number of the subscription that the records follow, and what ends it.
    var subscription = 0
    var token: ObservationToken?
  }

  /// The query whose records these are.
  public var query: StoreQuery<Element> { source.query }
  private let source: LiveQuery<Element>
  private let registrar = ObservationRegistrar()
  // Never held while an observer runs.
  private let state = Mutex(State())

  /// Reads the records of `source`, and follows it.
  init(_ source: LiveQuery<Element>) throws {
    self.source = source
    try begin()
  }

  /// The records in the order of the query, as of the latest commit delivered.
  ///
  /// The array is a snapshot: all its records are of one commit, and it never changes. Read it once
  /// where several answers must agree, such as a count and a record. Two lists may show different
  /// commits for a moment.
  ///
  /// If a record does not fit `Element`, the store reports the error, and the list stays as it was
  /// until a later commit makes every record fit.
  public var records: [Element] {
    registrar.access(self, keyPath: \.records)
    return state.withLock { $0.records }
  }

  /// Reads the result as it is now, and follows what comes after it in place of what it followed.
  private func begin() throws {
    let number = state.withLock { $0.subscription } + 1
    let token = try source.follow { initial in
      replace(with: initial.insertions.map(\.record), following: number)
    } _: { [weak self] changes in
      self?.follow(changes, of: number)
    }
    let former = state.withLock { state in
      // On the delivery queue the list may have begun again before this line.
      guard state.subscription == number else { return token as ObservationToken? }
      let former = state.token
      state.token = token
      return former
    }
    former?.cancel()
  }

  /// Takes over what became of the result. On the delivery queue.
  private func follow(_ changes: Result<QueryChanges<Element>, any Error>, of number: Int) {
    let (subscription, isStale, former) = state.withLock {
      ($0.subscription, $0.isStale, $0.records)
    }
    guard subscription == number else { return }
    do {
      if case .success(let changes) = changes, !isStale {
        var records = former
        changes.apply(to: &records)
        replace(with: records, following: number)
      } else {
        // Where a record did not fit, it may have been the old one; otherwise this fails as well.
        try begin()
      }
      registrar.willSet(self, keyPath: \.records)
      registrar.didSet(self, keyPath: \.records)
    } catch {
      state.withLock { $0.isStale = true }
      source.report(error)
    }
  }

  private func replace(with records: [Element], following number: Int) {
    let former = state.withLock { state in
      let former = state.records
      state.records = records
      state.isStale = false
      state.subscription = number
      return former
    }
    // The records that go are released here, outside the lock.
    withExtendedLifetime(former) {}
  }
}
