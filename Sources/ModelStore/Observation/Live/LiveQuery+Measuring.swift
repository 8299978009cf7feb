internal import Synchronization

extension LiveQuery {
  /// Returns a function that derives the query's event from a change set, as a commit would, on the
  /// calling thread. It is for measurements of this step alone.
  ///
  /// The function publishes the change set to all observers of the store, without writing it. So
  /// use it on a store of its own, which is not written meanwhile, and with change sets that follow
  /// each other, for example those of an equal store.
  @_spi(Measuring)
  public func derivation() -> (ChangeSet) throws -> QueryChanges<Element>? {
    let received = ReceivedDelta()
    let end = source.subscribe(
      LiveSubscriber(
        receive: { delta in
          received.delta.withLock { $0 = delta }
          return []
        }, wake: { _ in }))
    return { [self, broker = store.scope.broker] changes in
      broker.publish(ChangeBroker.Announcement(changes: changes.changes))
      guard let delta = received.delta.withLock({ $0.take() }) else { return nil }
      return try withExtendedLifetime(end) { try QueryChanges(delta, schema: query.schema) }
    }
  }
}

/// The delta of the latest commit.
private final class ReceivedDelta: Sendable {
  let delta = Mutex<QueryDelta?>(nil)
}
