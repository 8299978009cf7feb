internal import Synchronization

/// A handle to an observation. Releasing it, or calling ``cancel()``, ends the observation.
///
/// After that the callback is not called again, not even for an earlier commit. The only exception
/// is a call that is already running on another thread.
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

  /// Pauses delivery until ``resume()``, for example while a view is hidden. Events wait according
  /// to the observation's ``CoalescingPolicy``.
  ///
  /// It does not wait for a callback that is running. Calling it again does nothing.
  public func pause() { outlet.pause() }

  /// Resumes delivery in commit order, starting with the events that waited.
  public func resume() { outlet.resume() }
}
