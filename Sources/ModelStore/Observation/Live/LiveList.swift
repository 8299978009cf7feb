/// A record's ordered list that is kept up to date and reports each change by index.
///
/// It holds the elements' keys, not their records. Lists without a Swift element type hold key
/// values.
///
/// The list is kept up to date while you retain it or it has subscribers. Observers of the same
/// list with the same fields share one result.
public final class LiveList<Key: ModelKey>: Sendable {
  let list: RegisteredList
  let store: LiveStore
  private let name: String

  init(_ list: RegisteredList, store: LiveStore) {
    self.list = list
    self.store = store
    name = list.result.rule.slots.name
  }

  /// The current list.
  public var contents: ListSnapshot<Key> { ListSnapshot(list.result.rows) }

  /// Calls `body` for each later commit that changes the list or an observed field of its elements.
  /// Calls come on the store's delivery queue, in commit order. `body` may write, observe and
  /// cancel.
  ///
  /// - Parameters:
  ///   - options: With ``ObservationOptions/initial``, the first event contains the current list as
  ///     insertions. No change is lost or reported twice in between. ``ObservationOptions/prior``
  ///     is not available.
  ///   - coalescing: How commits are combined while a call is running or the subscription is
  ///     paused.
  /// - Returns: A token to keep: releasing it ends the observation. It keeps the list up to date.
  /// - Throws: ``StoreError`` with code `misuse` for an option that is not available, and for
  ///   ``ObservationOptions/initial`` inside a write of this store.
  public func observe(
    options: ObservationOptions = [], coalescing: CoalescingPolicy = .standard,
    _ body: @escaping @Sendable (ListChanges<Key>) -> Void
  ) throws -> ObservationToken {
    try options.check(allowing: .initial, by: .callback, of: name)
    let mailbox = Mailbox<ListDelta>(store.scope, options: options, coalescing: coalescing)
    mailbox.whenReady { [report = store.scope.report, name] delta in
      Wave.$current.withValue(delta.wave.heard(at: ObservedPath(model: name))) {
        do {
          if let changes = try Self.told(delta) { body(changes) }
        } catch {
          report(StoreError(reporting: error))
        }
      }
    }
    return try begin(mailbox, options)
  }

  /// Returns the later changes as a sequence for one `for try await` loop.
  ///
  /// Parameters and errors are those of ``observe(options:coalescing:_:)``.
  /// ``ObservationOptions/synchronous`` is not available for a loop.
  public func changes(
    options: ObservationOptions = [], coalescing: CoalescingPolicy = .standard
  ) throws -> ChangeSequence<ListChanges<Key>> {
    try options.check(allowing: .initial, by: .loop, of: name)
    let mailbox = Mailbox<ListDelta>(store.scope, coalescing: coalescing)
    return ChangeSequence(subscription: try begin(mailbox, options), report: store.scope.report) {
      while let delta = await mailbox.next() {
        if let changes = try Self.told(delta) { return changes }
      }
      return nil
    }
  }

  private func begin(
    _ mailbox: Mailbox<ListDelta>, _ options: ObservationOptions
  ) throws -> ObservationToken {
    guard options.contains(.initial) else {
      try store.checkOpen()
      return subscribe(mailbox)
    }
    return try store.whileNobodyWrites { reading in
      let version = reading.broker.version
      let outcome = mailbox.put(list.result.contents(asOf: version))
      let subscription = subscribe(mailbox)
      reading.broker.enqueue(for: outcome) { mailbox.deliver(upTo: version) }
      return subscription
    }
  }

  private func subscribe(_ mailbox: Mailbox<ListDelta>) -> ObservationToken {
    store.subscribe(mailbox, to: list.result.interests.map(\.model), keeping: list) {
      list.result.subscribe($0)
    }
  }

  /// Returns the changes for the caller. Returns nil if the lists do not differ, unless the delta
  /// is the first one or a reset.
  fileprivate static func told(_ delta: ListDelta) throws -> ListChanges<Key>? {
    let changes = try ListChanges<Key>(delta)
    return changes.isEmpty && !changes.isInitial && !changes.isReset ? nil : changes
  }
}

extension LiveList: _LiveMember {
  public typealias Changes = ListChanges<Key>

  public var _membership: _LiveMembership<ListChanges<Key>> {
    _LiveMembership(
      models: list.result.interests.map(\.model),
      subscribe: { [list] subscriber in
        let end = list.result.subscribe(
          LiveSubscriber(receive: { subscriber.receive(.list($0)) }, wake: subscriber.wake))
        return {
          end()
          withExtendedLifetime(list) {}
        }
      },
      initial: { [list] reading in
        .list(list.result.contents(asOf: reading.broker.version))
      },
      changes: { delta in
        guard case .list(let delta)? = delta else { return nil }
        return try Self.told(delta)
      })
  }
}
