internal import Synchronization

/// The longest time that a call waits for a task.
struct Deadline {
  private let duration: Duration

  init(_ duration: Duration) {
    self.duration = duration
  }

  /// The caller that waits for whatever comes first.
  private final class Caller: Sendable {
    private let continuation = Mutex<CheckedContinuation<Result<Bool, any Error>, Never>?>(nil)

    func suspend(_ continuation: CheckedContinuation<Result<Bool, any Error>, Never>) {
      self.continuation.withLock { $0 = continuation }
    }

    /// Resumes the caller; a second call does nothing.
    func resume(_ result: Result<Bool, any Error>) {
      continuation.withLock { $0.take() }?.resume(returning: result)
    }
  }

  /// Waits for `task` or for the deadline, whatever comes first. After the deadline, the task is
  /// cancelled, but not waited for.
  ///
  /// - Returns: Whether the task finished in time.
  /// - Throws: What the task throws in time.
  func race(_ task: Task<Void, any Error>) async throws -> Bool {
    let caller = Caller()
    let duration = duration
    let result = await withCheckedContinuation { continuation in
      caller.suspend(continuation)
      let alarm = Task {
        do {
          try await Task.sleep(for: duration)
        } catch {
          // The task has finished, and no one waits for the alarm any more.
          return
        }
        task.cancel()
        caller.resume(.success(false))
      }
      Task {
        let result = await task.result
        alarm.cancel()
        caller.resume(result.map { true })
      }
    }
    return try result.get()
  }
}
