internal import Synchronization

/// A handle to an observation. Releasing it, or calling ``cancel()``, ends the observation.
///
/// After that the callback is not called again, not even for an earlier commit. The only exception
/// is a call that is already running on another thread.
public final class ObservationToken: Sendable {
  private let subscription: any Subscription

  init(_ subscription: any Subscription) {
    self.subscription = subscription
  }

  /// - Parameter end: Called once.
  convenience init(_ outlet: any Outlet, end: @escaping @Sendable () -> Void) {
    self.init(ClosureSubscription(outlet, end: end))
  }

  deinit {
    cancel()
  }

  /// Ends the observation. Calling it again does nothing.
  public func cancel() { subscription.cancel() }

  /// Whether the observation has ended.
  var isEnded: Bool { subscription.isCancelled }

  var outlet: any Outlet { subscription.outlet }

  /// Pauses delivery until ``resume()``, for example while a view is hidden. Events wait according
  /// to the observation's ``CoalescingPolicy``.
  ///
  /// It does not wait for a callback that is running. Calling it again does nothing.
  public func pause() { outlet.pause() }

  /// Resumes delivery in commit order, starting with the events that waited.
  public func resume() { outlet.resume() }
}

/// A subscription that ends by a closure.
private final class ClosureSubscription: Subscription {
  let outlet: any Outlet
  private let ending: Mutex<(@Sendable () -> Void)?>

  init(_ outlet: any Outlet, end: @escaping @Sendable () -> Void) {
    self.outlet = outlet
    ending = Mutex(end)
  }

  func cancel() {
    let end = ending.withLock { ending in
      let end = ending
      ending = nil
      return end
    }
    end?()
  }

  var isCancelled: Bool { ending.withLock { $0 == nil } }
}
