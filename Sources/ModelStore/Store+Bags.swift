// Observations that belong to an observer.
extension Store {
  /// Calls `body` for each change of the observed thing from now on, for as long as `bag` exists
  /// and contains the observation.
  ///
  /// Observing the same thing with the same context again does not add an observation.
  ///
  /// - Parameters:
  ///   - observed: If it names several fields, each is an observation with the same callback.
  ///   - context: Distinguishes this observation from others of the same thing in the bag.
  ///   - coalescing: How commits are coalesced while a call is running.
  ///   - duplicate: What to do with an equal observation that is already in the bag.
  ///   - body: Called on the store's delivery queue, once for each commit that changes it, in
  ///     commit order. It may write, observe, and remove observations, including its own.
  /// - Throws: ``StoreError`` with code `unknownModel`, `unknownField`, `invalidValue` or
  ///   `unsupportedSchema` when it cannot be observed; `misuse` for options that it does not
  ///   support. Nothing is added then.
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

  /// Calls `body` for each change of the observed thing from now on, for as long as `owner` exists.
  /// You do not have to keep a token: the store holds the observation, and holds `owner` only
  /// weakly.
  ///
  /// - Parameters:
  ///   - owner: The observer. After it is released, no new call begins.
  ///   - body: Called as in a bag, with `owner`, which is retained during the call.
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

  /// Returns the observations that belong to `owner`. Use them to list or to end its observations.
  public func observations(by owner: some AnyObject & Sendable) -> ObservationBag {
    lease.scope.ownedBags.bag(of: owner)
  }
}

// A list of who observes what.
extension Store {
  /// Returns every observation of this store, in the order in which they began. Sequences count
  /// from their creation until they are dropped. A live query or list counts once for each
  /// subscription and sequence, and does not count while it has none.
  ///
  /// - Complexity: O(n log n) for n observations of the file's stores.
  package func observations() -> [ObservationEntry] {
    lease.scope.ownedBags.endOwnerless()
    return lease.scope.entries
  }

  /// Returns the bags that observe `observed`, each once, in the order of their first such
  /// observation.
  ///
  /// - Complexity: O(n log n) for n observations of the store.
  public func observers<Event>(of observed: Observed<Event>) -> [ObservationBag] {
    lease.scope.ownedBags.endOwnerless()
    let targets = observed.targets
    var seen: Set<ObjectIdentifier> = []
    return lease.scope.recordObservers.compactMap { record in
      guard targets.contains(record.target), let bag = record.bag,
        seen.insert(ObjectIdentifier(bag)).inserted
      else { return nil }
      return bag
    }
  }

  /// Ends the observations of `observed` in several bags at once.
  ///
  /// - Parameter bags: nil for every bag. Observations that a ``ObservationToken`` holds continue.
  public func endObservations<Event>(of observed: Observed<Event>, in bags: [ObservationBag]? = nil)
  {
    for bag in bags ?? observers(of: observed) { bag.remove(observed) }
  }
}
