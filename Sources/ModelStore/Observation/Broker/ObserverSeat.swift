/// An observer and its number, to which every route leads. Routing finds the observer and its
/// matches without a look-up.
final class ObserverSeat: @unchecked Sendable {
  // Guard: the broker's mutex guards `match`. The rest is constant.

  let number: UInt64
  /// nil where only numbers are looked for.
  let observer: (any ChangeBroker.Observer)?
  /// The place of its changes in the matches of a commit, valid for these matches alone.
  var match = 0

  init(_ number: UInt64, _ observer: (any ChangeBroker.Observer)? = nil) {
    self.number = number
    self.observer = observer
  }
}
