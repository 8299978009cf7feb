/// A subscriber's end, as its subscription and the writes that leave it out know it.
protocol Outlet: AnyObject, Sendable {
  /// Whose commits it receives; nil once the store is gone.
  var broker: ChangeBroker? { get }

  /// Lets events wait.
  func pause()

  /// Has events taken again, those that wait first.
  func resume()

  /// Leaves out what commits do from now on; on the committing thread.
  func beginSuppression()

  /// Takes up again what commits do; on the committing thread.
  func endSuppression()
}
