extension Store {
  /// Calls `body` once for each commit that changes at least one of several live queries and lists.
  /// One call reports the changes of all members, so a list and its dependents never appear in
  /// different states.
  ///
  /// A record or a field is a query, too: `Track.where { $0.id == 7 }`.
  ///
  /// - Parameters:
  ///   - options: With ``ObservationOptions/initial``, the first batch contains the current state
  ///     of each member. ``ObservationOptions/prior`` is refused.
  ///   - coalescing: How commits are coalesced while a call is running or the subscription is
  ///     paused.
  ///   - body: Called on the delivery queue with the changes of each member, in the given order;
  ///     nil for a member that the commit did not change. Moving a query's window is a separate
  ///     batch.
  /// - Returns: Keep it: dropping it ends the observation. It keeps the members alive.
  /// - Throws: ``StoreError`` with code `misuse` for an option that is refused; for initial results
  ///   also inside a write of this store, and as fetching does.
  public func observe<each Member: _LiveMember>(
    _ members: repeat each Member, options: ObservationOptions = [],
    coalescing: CoalescingPolicy = .standard,
    body: @escaping @Sendable (repeat (each Member).Changes?) -> Void
  ) throws -> ObservationToken {
    try options.check(allowing: .initial, by: .callback, of: "a group")
    let mailbox = Mailbox<QueryGroup.Batch>(lease.scope, options: options, coalescing: coalescing)
    let report = lease.scope.report
    var models: [String] = []
    for member in repeat each members { models += member._membership.models }
    mailbox.whenReady { [path = ObservedPath(model: models.first ?? "")] batch in
      Wave.$current.withValue(batch.wave.heard(at: path)) {
        do {
          let told = try Self.told(batch, by: repeat each members)
          guard let changes = told else { return }
          body(repeat each changes)
        } catch {
          report(StoreError(reporting: error))
        }
      }
    }
    return try begin(mailbox, repeat each members, options: options)
  }

  /// Returns the changes of several live queries and lists, batch by batch, for one `for try await`
  /// loop. Parameters and errors as for ``observe(_:options:coalescing:body:)``; a loop cannot be
  /// ``ObservationOptions/synchronous``.
  public func changes<each Member: _LiveMember>(
    of members: repeat each Member, options: ObservationOptions = [],
    coalescing: CoalescingPolicy = .standard
  ) throws -> ChangeSequence<(repeat (each Member).Changes?)> {
    try options.check(allowing: .initial, by: .loop, of: "a group")
    let mailbox = Mailbox<QueryGroup.Batch>(lease.scope, coalescing: coalescing)
    let subscription = try begin(mailbox, repeat each members, options: options)
    return ChangeSequence(subscription: subscription, report: lease.scope.report) {
      while let batch = await mailbox.next() {
        if let changes = try Self.told(batch, by: repeat each members) { return changes }
      }
      return nil
    }
  }

  /// Returns the batch for the caller; nil when it has no net change.
  private static func told<each Member: _LiveMember>(
    _ batch: QueryGroup.Batch, by members: repeat each Member
  ) throws -> (repeat (each Member).Changes?)? {
    var rest = batch.deltas.makeIterator()
    var isTold = false
    func next<M: _LiveMember>(_ member: M) throws -> M.Changes? {
      let changes = try member._membership.changes(rest.next() ?? nil)
      if changes != nil { isTold = true }
      return changes
    }
    let changes = (repeat try next(each members))
    return isTold ? changes : nil
  }

  private func begin<each Member: _LiveMember>(
    _ mailbox: Mailbox<QueryGroup.Batch>, _ members: repeat each Member,
    options: ObservationOptions
  ) throws -> ObservationToken {
    var parts: [@Sendable (LiveSubscriber<MemberDelta>) -> @Sendable () -> Void] = []
    var initials: [@Sendable (LiveStore.Reading) throws -> MemberDelta] = []
    var models: Set<String> = []
    for member in repeat each members {
      let _membership = member._membership
      parts.append(_membership.subscribe)
      initials.append(_membership.initial)
      models.formUnion(_membership.models)
    }
    let group = QueryGroup(parts, models: models, mailbox: mailbox)
    let broker = try open.broker
    let scope = lease.scope
    func subscribe() -> ObservationToken {
      // The group is registered after its members' results, so they have processed a commit before
      // it.
      let ends = group.subscribe() + [broker.add(group)]
      let leave = scope.add(models.sorted().map { ObservedPath(model: $0) }) {
        mailbox.finish()
        for end in ends { end() }
      }
      return ObservationToken(mailbox) {
        leave()
        mailbox.close()
        for end in ends { end() }
      }
    }
    guard options.contains(.initial) else { return subscribe() }
    return try LiveStore(lease).whileNobodyWrites { reading in
      let version = reading.broker.version
      let outcome = mailbox.put(QueryGroup.Batch(deltas: try initials.map { try $0(reading) }))
      let subscription = subscribe()
      reading.broker.enqueue(for: outcome) { mailbox.deliver(upTo: version) }
      return subscription
    }
  }
}
