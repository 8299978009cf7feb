/// One record's ordered list, kept true: it knows which element is where, and tells what each
/// commit does to it, with indices. It holds keys, not records: those of the elements' type, or
/// their values where there is no Swift type.
///
/// It lives as long as it is held or has subscribers. Whoever observes the same list with the same
/// fields shares what is kept.
public final class LiveList<Key: ModelKey>: Sendable {
  let list: RegisteredList
  let store: LiveStore
  private let name: String

  init(_ list: RegisteredList, store: LiveStore) {
    self.list = list
    self.store = store
    name = list.result.rule.slots.name
  }

  /// The list as it is now.
  public var contents: ListSnapshot<Key> { ListSnapshot(list.result.rows) }

  /// Calls `body` for each commit that changes the list or an observed field of its elements, from
  /// now on, on the store's delivery queue, in commit order. It may write, observe and cancel.
  ///
  /// - Parameters:
  ///   - options: With ``ObservationOptions/initial``, the first event is the list as it is, as if
  ///     it had been empty before; no change is lost or told twice in between.
  ///     ``ObservationOptions/prior`` is refused.
  ///   - coalescing: What becomes of commits while a call is running or the subscription is paused.
  /// - Returns: Keep it: dropping it ends the observation. It keeps the list followed.
  /// - Throws: ``StoreError`` with code `misuse` for an option that is refused; for the list as it
  ///   is also inside a write of this store.
  public func observe(
    options: ObservationOptions = [], coalescing: CoalescingPolicy = .standard,
    _ body: @escaping @Sendable (ListChanges<Key>) -> Void
  ) throws -> ObservationToken {
    try options.check(allowing: .initial, by: .callback, of: name)
    let mailbox = Mailbox<ListDelta>(store.scope, options: options, coalescing: coalescing)
    mailbox.whenReady { [report = store.scope.report, name] delta in
      do {
        guard let changes = try Self.told(delta) else { return }
        Wave.$current.withValue(delta.wave.heard(at: ObservedPath(model: name))) { body(changes) }
      } catch {
        report(StoreError(reporting: error))
      }
    }
    return try begin(mailbox, options)
  }

  /// The changes from now on, for one `for try await` loop. Parameters and errors as for
  /// ``observe(options:coalescing:_:)``; a loop cannot be ``ObservationOptions/synchronous``.
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

  /// A delta as the caller sees it; nil for one without any difference, unless it is the first one
  /// or a reset.
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
