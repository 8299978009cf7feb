internal import Synchronization

/// The bags of observing objects that do not hold a bag themselves. A bag ends after its owner is
/// released; the store notices this at the next event or query.
final class OwnedBags: Sendable {
  private struct Owned {
    weak var owner: (any AnyObject & Sendable)?
    let bag: ObservationBag
  }

  private struct State {
    var owned: [ObjectIdentifier: Owned] = [:]
    /// The count above which bags without an owner are removed.
    var limit = 16
  }

  private let state = Mutex(State())

  /// Returns the bag of `owner`, and creates it if needed.
  func bag(of owner: some AnyObject & Sendable) -> ObservationBag {
    let (bag, former, isFull) = state.withLock { state in
      let identity = ObjectIdentifier(owner)
      // A new object may have the address of a released one.
      if let known = state.owned[identity], known.owner != nil {
        return (known.bag, ObservationBag?.none, false)
      }
      let bag = ObservationBag()
      let former = state.owned.updateValue(Owned(owner: owner, bag: bag), forKey: identity)
      return (bag, former?.bag, state.owned.count > state.limit)
    }
    former?.removeAll()
    if isFull { endOwnerless() }
    return bag
  }

  /// Ends the observations of every owner.
  func removeAll() {
    let owned = state.withLock { state in
      defer { state.owned = [:] }
      return state.owned
    }
    for owned in owned.values { owned.bag.removeAll() }
  }

  /// Ends the observations of owners that were released.
  ///
  /// - Complexity: Linear in the owners.
  func endOwnerless() {
    let (gone, living) = state.withLock { state in
      var gone: [ObservationBag] = []
      var living: [any AnyObject & Sendable] = []
      for (identity, owned) in state.owned {
        if let owner = owned.owner {
          living.append(owner)
        } else {
          gone.append(owned.bag)
          state.owned[identity] = nil
        }
      }
      state.limit = max(16, state.owned.count * 2)
      return (gone, living)
    }
    // If these are the last references to an owner, it is released here, outside the lock.
    withExtendedLifetime(living) {}
    for bag in gone { bag.removeAll() }
  }
}
