// Observations that belong to an observer.
extension Store {
  /// Tells what happens to something, from now on, for as long as `bag` is held and has the
  /// observation.
  ///
  /// Observing the same thing with the same context again does not add an observation.
  ///
  /// - Parameters:
  ///   - observed: Several fields are as many observations with one callback.
  ///   - context: Tells this observation from others of the same thing in the bag.
  ///   - coalescing: What becomes of commits while a call is running.
  ///   - duplicate: What becomes of the observation that is there already.
  ///   - body: Called on the store's delivery queue, once for each commit that changes it, in
  ///     commit order. It may write, observe and remove observations, its own too.
  /// - Throws: ``StoreError`` with code `unknownModel`, `unknownField`, `invalidValue` or
  ///   `unsupportedSchema` when it cannot be observed; `misuse` for options that it does not take.
  ///   Nothing is added then.
  /// - Complexity: O(log n) for n observations; ``ObservationOptions/initial`` reads the record.
  public func observe<Event>(
    _ observed: Observed<Event>, in bag: ObservationBag, context: String? = nil,
    options: ObservationOptions = [], coalescing: CoalescingPolicy = .standard,
    ifPresent duplicate: ObservationBag.Duplicate = .keep,
    _ body: @escaping @Sendable (Event) -> Void
  ) throws {
    try lease.observe(
      observed, in: bag, context: context, options: options, coalescing: coalescing,
      ifPresent: duplicate, body)
  }

  /// Tells what happens to something, from now on, for as long as `owner` lives. Nobody has to keep
  /// anything: the store holds the observation, and holds `owner` only weakly.
  ///
  /// - Parameters:
  ///   - owner: The observer. When it is gone no new call begins.
  ///   - body: Called as in a bag, with `owner`, which is kept for the call.
  public func observe<Event, Owner: AnyObject & Sendable>(
    _ observed: Observed<Event>, owner: Owner, context: String? = nil,
    options: ObservationOptions = [], coalescing: CoalescingPolicy = .standard,
    ifPresent duplicate: ObservationBag.Duplicate = .keep,
    _ body: @escaping @Sendable (Owner, Event) -> Void
  ) throws {
    let ownedBags = lease.scope.ownedBags
    try observe(
      observed, in: ownedBags.bag(of: owner), context: context, options: options,
      coalescing: coalescing, ifPresent: duplicate
    ) { [weak owner, weak ownedBags] event in
      guard let owner else {
        ownedBags?.endOwnerless()
        return
      }
      body(owner, event)
    }
  }

  /// The observations that `owner` is the owner of, to ask or to end.
  public func observations(by owner: some AnyObject & Sendable) -> ObservationBag {
    lease.scope.ownedBags.bag(of: owner)
  }
}

// Who observes what.
extension Store {
  /// Returns every observation of this store, in the order in which they began: those with a
  /// callback, and sequences from when they are made until they are dropped. A live query or list
  /// counts once for each subscription and sequence, and not at all while it has none.
  ///
  /// - Complexity: O(n log n) for n observations of the file's stores.
  package func observations() -> [ObservationEntry] {
    lease.scope.ownedBags.endOwnerless()
    return lease.scope.entries
  }

  /// The bags in which that is observed, each once, by the order of their first observations of it.
  ///
  /// - Complexity: O(n log n) for n observations of the store.
  public func observers<Event>(of observed: Observed<Event>) -> [ObservationBag] {
    lease.scope.ownedBags.endOwnerless()
    let targets = observed.targets
    var seen: Set<ObjectIdentifier> = []
    return lease.scope.recordObservers.compactMap { record in
      guard targets.contains(record.target), let bag = record.registrant?.bag,
        seen.insert(ObjectIdentifier(bag)).inserted
      else { return nil }
      return bag
    }
  }

  /// Ends the observations of that in several bags at once.
  ///
  /// - Parameter bags: nil for every bag. What a ``ObservationToken`` holds goes on.
  public func endObservations<Event>(of observed: Observed<Event>, in bags: [ObservationBag]? = nil)
  {
    for bag in bags ?? observers(of: observed) { bag.remove(observed) }
  }
}
