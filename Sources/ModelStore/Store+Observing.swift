// Anything that can be observed.
extension Store {
  /// Calls `body` for each change of the observed thing from now on, until the subscription is
  /// cancelled or dropped.
  ///
  /// - Parameters:
  ///   - options: What to report in addition to the changes, and whether writes wait for `body`.
  ///   - coalescing: How commits are coalesced while a call is running or the subscription is
  ///     paused.
  ///   - body: Called on the store's delivery queue, once for each commit that changes it, in
  ///     commit order. It may write, observe and cancel.
  /// - Returns: Keep it: dropping it ends the observation.
  /// - Throws: ``StoreError`` with code `unknownModel`, `unknownField`, `invalidValue` or
  ///   `unsupportedSchema` when it cannot be observed; `misuse` for options that it does not
  ///   support.
  public func observe<Event>(
    _ observed: Observed<Event>, options: ObservationOptions = [],
    coalescing: CoalescingPolicy = .standard,
    _ body: @escaping @Sendable (Event) -> Void
  ) throws -> ObservationToken {
    try lease.start(observed, options: options, coalescing: coalescing, body)
  }

  /// Returns the changes of the observed thing from now on, for one `for try await` loop.
  /// Parameters and errors as for ``observe(_:options:coalescing:_:)``; a loop cannot be
  /// ``ObservationOptions/synchronous``.
  public func changes<Event>(
    of observed: Observed<Event>, options: ObservationOptions = [],
    coalescing: CoalescingPolicy = .standard
  ) throws -> ChangeSequence<Event> {
    try lease.sequence(observed, options: options, coalescing: coalescing)
  }

  /// Calls `body` for each change of one field of several records. You can exchange the records
  /// later.
  ///
  /// - Parameters:
  ///   - keys: The records to begin with; they need not exist.
  ///   - body: Called as for one field, with the record's key.
  /// - Returns: Keep it: dropping it ends the observation.
  public func observe<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, ofEach keys: some Collection<M.Key>,
    options: ObservationOptions = [],
    _ body: @escaping @Sendable (M.Key, FieldEvent<Value>) -> Void
  ) throws -> RecordWindow<M.Key> {
    let bag = ObservationBag()
    let window = RecordWindow<M.Key>(
      bag: bag, calls: try open.calls,
      enter: { [weak lease] key in
        guard let lease else { throw StoreLease.closed }
        try lease.observe(.field(field, of: key), in: bag, options: options) { body(key, $0) }
      },
      leave: { bag.remove(.field(field, of: $0)) })
    try window.move(to: keys)
    return window
  }
}

// Shorter forms for fields, records and models, without options. They read nothing and do not wait,
// so they need no asynchronous form.
extension Store {
  /// Calls `body` for each change of one field of one record, from now on:
  /// ``Observed/field(_:of:)``.
  ///
  /// - Parameters:
  ///   - key: The record's key; it need not exist yet.
  ///   - body: Called as for anything observed.
  /// - Returns: Keep it: dropping it ends the observation.
  public func observe<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, of key: M.Key,
    _ body: @escaping @Sendable (FieldEvent<Value>) -> Void
  ) throws -> ObservationToken {
    try observe(.field(field, of: key), body)
  }

  /// Returns the changes of one field of one record from now on, for one `for try await` loop.
  public func changes<M: Model, Value: ColumnValue>(
    of field: any KeyPath<M, Value> & Sendable, of key: M.Key
  ) throws -> ChangeSequence<FieldEvent<Value>> {
    try changes(of: .field(field, of: key))
  }

  /// Calls `body` for each change of one record, from now on. With `fields`, only if one of these
  /// fields differs: ``Observed/record(_:_:fields:)``.
  ///
  /// - Parameter body: Called as for anything observed.
  public func observe<M: Model>(
    _ model: M.Type, of key: M.Key, fields: [any PartialKeyPath<M> & Sendable] = [],
    _ body: @escaping @Sendable (RecordEvent<M>) -> Void
  ) throws -> ObservationToken {
    try observe(.record(model, key, fields: fields), body)
  }

  /// Returns the changes of one record from now on, for one `for try await` loop. With `fields`,
  /// only those in which one of these fields differs.
  public func changes<M: Model>(
    of model: M.Type, key: M.Key, fields: [any PartialKeyPath<M> & Sendable] = []
  ) throws -> ChangeSequence<RecordEvent<M>> {
    try changes(of: .record(model, key, fields: fields))
  }

  /// Calls `body` for each commit that changes records of a model, from now on:
  /// ``Observed/model(_:)``.
  ///
  /// - Parameter body: Called as for anything observed.
  public func observe<M: Model>(
    _ model: M.Type, _ body: @escaping @Sendable (ModelEvent<M>) -> Void
  ) throws -> ObservationToken {
    try observe(.model(model), body)
  }

  /// Returns the commits that change records of a model from now on, for one `for try await` loop.
  public func changes<M: Model>(of model: M.Type) throws -> ChangeSequence<ModelEvent<M>> {
    try changes(of: .model(model))
  }
}

extension Store {
  /// Waits until every commit so far has been delivered to every callback. Writes by these
  /// callbacks may still be undelivered; see ``waitUntilQuiet()``.
  ///
  /// - Precondition: Neither inside a callback nor inside a write, where a callback that writes
  ///   would wait for the caller.
  public func waitForDelivery() {
    checkMayWait()
    engine.broker.drain()
  }

  /// Waits until every commit so far has been delivered to every callback, and so have the commits
  /// that callbacks wrote in response, until nothing is left to deliver.
  ///
  /// Work that a callback only started, such as a task or a write that it does not wait for, is not
  /// covered. While other threads keep writing to observed records, this keeps waiting.
  ///
  /// - Precondition: As for ``waitForDelivery()``.
  public func waitUntilQuiet() {
    checkMayWait()
    engine.broker.drainAnswers()
  }

  /// Calls `body` when the store closes or is released; immediately if it has closed already.
  ///
  /// - Returns: A closure that releases `body` before that, for an observer that ends by itself.
  package func whenClosed(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    lease.scope.add([], end: body)
  }

  private func checkMayWait() {
    precondition(
      !engine.connections.writer.isCurrent, "Waiting for delivery inside a write may never end.")
    precondition(
      !engine.broker.isCurrent, "Waiting for delivery inside a callback would never end.")
  }

  /// Checks whether another process has written since the last check, and notifies observers if so.
  /// Also reads live queries again that could not be read after an earlier commit. Every write does
  /// this too.
  ///
  /// In a shared store it first applies every commit that other members have made until now, so
  /// that reads see them. Without it, you see such a commit after 250 ms at the latest while the
  /// ledger can be reached. See <doc:shared-stores>.
  ///
  /// - Throws: ``StoreError``; in a shared store also with code `ledgerUnavailable`,
  ///   `memberDiverged` or `ledgerLostCommits`. Commits that were applied before the failure stay.
  public func refresh() throws {
    let engine = try open
    try engine.membership?.refresh()
    try engine.atPublishedState { _ in }
  }
}
