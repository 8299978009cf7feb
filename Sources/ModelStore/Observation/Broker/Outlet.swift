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

/// What an ``ObservationToken`` ends. It is the observer itself where there may be very many.
protocol Subscription: AnyObject, Sendable {
  var outlet: any Outlet { get }

  /// Whether ``cancel()`` has ended it.
  var isCancelled: Bool { get }

  /// Ends it. Calling it again does nothing.
  func cancel()
}
