import Dispatch
import Testing

/// Runs a test on threads of its own instead of the few threads that all tests share.
///
/// Give it to each test that starts a process by `#expect(processExitsWith:)`. Hundreds of tests
/// wait for the shared threads, so such a test may notice minutes later that its process ended.
/// Until then the testing library polls for that process in a loop, which keeps a core busy.
struct OwnThreads: TestTrait, SuiteTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(Executor.shared) { try await function() }
  }

  private final class Executor: TaskExecutor {
    static let shared = Executor()

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      // A serial queue always gets a thread. A concurrent one waits for the shared threads.
      DispatchQueue(label: "test").async {
        job.runSynchronously(on: self.asUnownedTaskExecutor())
      }
    }
  }
}

extension Trait where Self == OwnThreads {
  static var ownThreads: Self { Self() }
}
