import Dispatch

/// Holds a thread until another one opens the gate.
final class DispatchGate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func wait() { semaphore.wait() }

  func open() { semaphore.signal() }

  /// Waits as ``wait()`` does, without blocking a thread of the tasks.
  func opened() async {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "waiting").async {
        self.wait()
        continuation.resume()
      }
    }
  }

  /// Cancels `task` when the gate opens.
  ///
  /// It does so on a thread of its own. A test that resumes to cancel the task may wait minutes for
  /// one of the threads that all tests share. What runs until it is cancelled would keep a core
  /// busy until then.
  func cancelsWhenOpen<Success>(_ task: Task<Success, any Error>) {
    DispatchQueue(label: "cancelling").async {
      self.wait()
      task.cancel()
    }
  }
}
