internal import Synchronization

/// The conversion of commits into the events of observers, and their delivery. Observers that
/// observe the same fields of different records share it, because there may be very many.
final class EventTelling<Event: Sendable>: Sendable {
  private let events: @Sendable (ChangeBroker.Commit, [SQLValue]?) throws -> [Event]
  /// Returns the event that precedes an event; nil if it was not requested.
  private let prior: (@Sendable (Event) -> Event)?
  private weak let lease: StoreLease?

  fileprivate init(
    _ observation: RecordObservation<Event>, hasPrior: Bool, _ lease: StoreLease
  ) {
    events = observation.events
    prior = hasPrior ? observation.prior : nil
    self.lease = lease
  }

  /// Returns the events of a commit.
  ///
  /// - Parameter current: The current record; passed only after a resync.
  func events(of commit: ChangeBroker.Commit, current: [SQLValue]?) throws -> [Event] {
    let events = try events(commit, current)
    guard let prior, !commit.isInitial else { return events }
    return events.flatMap { [prior($0), $0] }
  }

  /// Calls `body` with the events of a part of a commit. Errors go to the store's `onError`, except
  /// that of a closed store, because the callbacks of a closed store have ended.
  fileprivate func tell(_ part: RecordPart, to body: @Sendable (Event) -> Void) {
    guard let lease else { return }
    let (commit, observer) = (part.commit, part.observer)
    let schema = observer.fields.schema
    Wave.$current.withValue(commit.frame.wave.heard(at: observer.path)) {
      do {
        let current =
          commit.isReset
          ? try lease.engine.currentForDelivery(observer.key, of: schema) : nil
        for event in try events(of: commit, current: current) where !observer.isEnded {
          body(event)
        }
      } catch let error as ColumnError {
        lease.scope.report(StoreError(error, reading: schema))
      } catch  where lease.scope.hasEnded {
        return
      } catch {
        lease.scope.report(StoreError(reporting: error))
      }
    }
  }
}

/// A callback with the conversion of what it is called with. It is small enough that the observer's
/// mailbox holds it without an allocation.
struct EventTeller<Event: Sendable>: EventReceiver {
  let body: @Sendable (Event) -> Void
  let telling: EventTelling<Event>

  func receive(_ part: RecordPart) { telling.tell(part, to: body) }
}

/// The conversions that a store's observers share.
final class EventTellings: Sendable {
  private struct Kind: Hashable {
    let event: ObjectIdentifier
    let model: ObjectIdentifier
    /// The fields, in the order in which they are reported.
    let order: [Int]
    let counted: Set<Int>?
    let hasPrior: Bool
  }

  private let known = Mutex<[Kind: any AnyObject & Sendable]>([:])

  func telling<Event>(
    _ observation: RecordObservation<Event>, _ options: ObservationOptions, _ lease: StoreLease
  ) -> EventTelling<Event> {
    let kind = Kind(
      event: ObjectIdentifier(Event.self), model: observation.model, order: observation.order,
      counted: observation.counted, hasPrior: options.contains(.prior))
    return known.withLock { known in
      if let found = known[kind] as? EventTelling<Event> { return found }
      let made = EventTelling(observation, hasPrior: kind.hasPrior, lease)
      known[kind] = made
      return made
    }
  }
}
