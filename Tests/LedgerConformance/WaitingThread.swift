import Dispatch
import Synchronization

/// A thread that runs one body, which may block.
package final class WaitingThread: Sendable {
  private let group = DispatchGroup()
  private let failure = Mutex<(any Error)?>(nil)

  /// Returns when the thread is about to begin.
  package init(_ body: @escaping @Sendable () throws -> Void) {
    let begins = DispatchSemaphore(value: 0)
    DispatchQueue(label: "waiting").async(group: group) { [self] in
      begins.signal()
      do {
        try body()
      } catch {
        failure.withLock { $0 = error }
      }
    }
    begins.wait()
  }

  /// Waits for the end of the body and throws what it threw.
  package func join() throws {
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
