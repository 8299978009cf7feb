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
/// The records are updated on the store's delivery queue, in order with the callbacks. If commits
/// come faster than that, several become one update. As with ``LiveRecord``, you can already read
/// the new records when you are notified, on any thread. The list follows its query for as long as
/// you retain it, and does not keep the store open.
public final class LiveRecords<Element: Fetchable>: Observable, Sendable {
  private struct State {
    var records: [Element] = []
    /// Whether a change could not be applied, so that the records must be read again.
    var isStale = false
    /// The number of the subscription that updates the records.
    var subscription = 0
    /// Ends that subscription.
    var token: ObservationToken?
  }

  /// The query that selects the records.
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

  /// The records in the order of the query, as of the latest delivered commit.
  ///
  /// The array is a snapshot of one commit, and it never changes. If you need several consistent
  /// values, such as the count and a record, read the array once. Two lists may show different
  /// commits for a moment.
  ///
  /// If a record cannot be decoded as `Element`, the store reports the error. The list keeps its
  /// records until a later commit makes every record valid.
  public var records: [Element] {
    registrar.access(self, keyPath: \.records)
    return state.withLock { $0.records }
  }

  /// Reads the current result and follows later changes, instead of the former subscription.
  private func begin() throws {
    let number = state.withLock { $0.subscription } + 1
    let token = try source.follow { initial in
      replace(with: initial.insertions.map(\.record), following: number)
    } _: { [weak self] changes in
      self?.follow(changes, of: number)
    }
    let former = state.withLock { state in
      // The delivery queue may have begun another subscription before this line.
      guard state.subscription == number else { return token as ObservationToken? }
      let former = state.token
      state.token = token
      return former
    }
    former?.cancel()
  }

  /// Applies the changes of the result. It runs on the delivery queue.
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
        // The record that could not be decoded may be an old one. Otherwise this fails as well.
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
    // The former records are released here, outside the lock.
    withExtendedLifetime(former) {}
  }
}
