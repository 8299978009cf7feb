/// A subscriber's receiving end, as its token and suppressing writes see it.
protocol Outlet: AnyObject, Sendable {
  /// The broker whose commits it receives; nil once the store is gone.
  var broker: ChangeBroker? { get }

  /// Lets events wait.
  func pause()

  /// Resumes delivery, starting with the waiting events.
  func resume()

  /// Ignores commits from now on. Called on the committing thread.
  func beginSuppression()

  /// Accepts commits again. Called on the committing thread.
  func endSuppression()
}
