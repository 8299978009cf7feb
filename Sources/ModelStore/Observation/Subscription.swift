internal import Synchronization

/// The caller's end of an observation. Dropping it ends the observation; so does ``cancel()``.
///
/// After either, its callback is not called again, not even for a commit that happened before,
/// except where a call is running on another thread at that moment.
public final class Subscription: Sendable {
  private let ending: Mutex<(@Sendable () -> Void)?>

  init(_ end: @escaping @Sendable () -> Void) {
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
}
