internal import Synchronization

/// The bags of objects that are observers and hold no bag themselves. A bag ends when its owner is
/// gone, which is noticed at the next event or question.
final class OwnedBags: Sendable {
  private struct Owned {
    weak var owner: (any AnyObject & Sendable)?
    let bag: ObservationBag
  }

  private struct State {
    var owned: [ObjectIdentifier: Owned] = [:]
    /// How many there may be before those without an owner are looked for.
    var limit = 16
  }

  private let state = Mutex(State())

  /// The bag of `owner`, made when it has none.
  func bag(of owner: some AnyObject & Sendable) -> ObservationBag {
    let (bag, former, isFull) = state.withLock { state in
      let identity = ObjectIdentifier(owner)
      // An object may have got the address of one that is gone.
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

  /// Ends the observations of owners that are gone.
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
    // An owner that nobody else holds by now is released here, outside the lock.
    withExtendedLifetime(living) {}
    for bag in gone { bag.removeAll() }
  }
}
