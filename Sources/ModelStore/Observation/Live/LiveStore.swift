/// The parts of a store that a live query needs. They do not keep the store open.
struct LiveStore: Sendable {
  /// The store's observations.
  let scope: ObservationScope
  /// The threads for its asynchronous forms.
  let calls: BlockingCalls
  private let run: @Sendable ((Reading) throws -> Void) throws -> Void

  /// - Parameter run: Runs its argument so that no commit of this store can come between.
  init(
    scope: ObservationScope, calls: BlockingCalls,
    run: @escaping @Sendable ((Reading) throws -> Void) throws -> Void
  ) {
    self.scope = scope
    self.calls = calls
    self.run = run
  }

  /// - Throws: ``StoreError`` with code `misuse` for a closed store.
  func checkOpen() throws {
    guard !scope.hasEnded else { throw StoreError(.misuse, "The store is closed.") }
  }

  /// Runs `body` so that no commit of this store can come between what it reads and what it
  /// registers.
  ///
  /// - Throws: Any error of `body`; ``StoreError`` with code `misuse` inside a write, and for a
  ///   closed store.
  func whileNobodyWrites<Result>(_ body: (Reading) throws -> Result) throws -> Result {
    var result: Result?
    try run { reading in result = try body(reading) }
    guard let result else { preconditionFailure("The store did not run the given closure.") }
    return result
  }

  /// Delivers later changes to `mailbox`, until the subscription or the store ends.
  ///
  /// - Parameters:
  ///   - models: The models whose changes can affect the subscriber.
  ///   - owner: Retained by the subscription. Not generic: the compiler could not specialise this
  ///     function for a generic class, and then neither the mailbox.
  ///   - begin: Adds the subscriber, and returns a closure that removes it.
  func subscribe<Delta: ObservedEvent>(
    _ mailbox: Mailbox<Delta>, to models: [String], keeping owner: any AnyObject & Sendable,
    _ begin: (LiveSubscriber<Delta>) -> @Sendable () -> Void
  ) -> ObservationToken {
    let end = begin(LiveSubscriber(receive: mailbox.put) { mailbox.deliver(upTo: $0) })
    let leave = scope.add(models.map { ObservedPath(model: $0) }) {
      mailbox.finish()
      end()
    }
    return ObservationToken(mailbox) {
      leave()
      mailbox.close()
      end()
      withExtendedLifetime(owner) {}
    }
  }

  /// The committed state while no write is running.
  struct Reading {
    let read: (SQLText) throws -> [[SQLValue]]
    let broker: ChangeBroker

    /// Returns the current result as the first event of a subscription.
    func initial<Element>(
      _ query: StoreQuery<Element>, _ source: any LiveSource
    ) throws -> QueryDelta {
      let rows = source.rows
      if let kept = source.images { return QueryDelta.initial(rows, images: kept) }
      let images = try read(
        try query.keyed.limit(rows.window?.limit, offset: rows.window?.offset ?? 0).selectText())
      guard rows.hold(images, query.schema) else {
        throw StoreError(
          .busy,
          "The result of a live query of \(query.schema.name) could not be brought up to date. See the error that onError received.",
          model: query.schema.name)
      }
      return QueryDelta.initial(rows, images: images)
    }
  }
}

extension LiveRows {
  /// Whether `images` are the shown records, in order.
  fileprivate func hold(_ images: [[SQLValue]], _ schema: ModelSchema) -> Bool {
    guard images.count == count else { return false }
    let keys = schema.keyIndices
    var next = images.makeIterator()
    var isEqual = true
    forEach(in: 0..<count) { entry in
      let image = next.next()
      isEqual = isEqual && image.map { image in keys.map { image[$0] } } == entry.key
    }
    return isEqual
  }
}
