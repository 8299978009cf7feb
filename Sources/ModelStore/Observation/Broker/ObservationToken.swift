internal import Synchronization

/// The caller's end of an observation. Dropping it ends the observation; so does ``cancel()``.
///
/// After either, its callback is not called again, not even for a commit that happened before,
/// except where a call is running on another thread at that moment.
public final class ObservationToken: Sendable {
  let outlet: any Outlet
  private let ending: Mutex<(@Sendable () -> Void)?>

  init(_ outlet: any Outlet, end: @escaping @Sendable () -> Void) {
    self.outlet = outlet
    ending = Mutex(end)
  }

  deinit {
    cancel()
  }

  /// Ends the observation. Calling it again does nothing.
  public func cancel() {
    let end = ending.withLock { ending in
      let end = ending
      ending = nil
      return end
    }
    end?()
  }

  /// Whether the observation has ended.
  var isEnded: Bool { ending.withLock { $0 == nil } }

  /// Lets events wait, as the observation's ``CoalescingPolicy`` says, until ``resume()``: while
  /// nobody looks. It does not wait for a call that is running. Calling it again does nothing.
  public func pause() { outlet.pause() }

  /// Has events told again, those that waited first, in commit order.
  public func resume() { outlet.resume() }
}
