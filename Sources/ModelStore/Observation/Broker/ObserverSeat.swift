internal import Synchronization

/// An observer and its number, to which every route leads. Routing finds the observer and its
/// matches without a look-up.
final class ObserverSeat: Sendable {
  let number: UInt64
  /// nil where only numbers are looked for.
  let observer: (any ChangeBroker.Observer)?
  /// Where routes lead to the seat. Removing it takes the same ones.
  let interests: [ChangeBroker.Interest]
  /// The place of its changes in the matches of a commit, valid for these matches alone. The
  /// broker's mutex guards it.
  private let latestMatch = Atomic(0)

  init(
    _ number: UInt64, _ observer: (any ChangeBroker.Observer)? = nil,
    interests: [ChangeBroker.Interest] = []
  ) {
    self.number = number
    self.observer = observer
    self.interests = interests
  }

  var match: Int {
    get { latestMatch.load(ordering: .relaxed) }
    set { latestMatch.store(newValue, ordering: .relaxed) }
  }
}
