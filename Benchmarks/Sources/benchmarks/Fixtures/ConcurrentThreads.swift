import Dispatch
import Foundation
import Synchronization

/// Threads that begin at the same moment and are waited for.
enum ConcurrentThreads {
  /// What the threads did.
  struct Outcome {
    /// From the moment in which they began until the last one ended.
    var nanoseconds: UInt64
    /// The times of all operations, in no order.
    var samples: [UInt64]
  }

  /// Runs `work` on `count` threads at once.
  ///
  /// - Parameter work: Receives the thread's number, from 0, and returns the times of its
  ///   operations.
  /// - Throws: The first error of any thread, after all have ended.
  static func run(
    _ count: Int, _ work: @escaping @Sendable (Int) throws -> [UInt64]
  ) throws -> Outcome {
    let ready = DispatchSemaphore(value: 0)
    let gate = DispatchSemaphore(value: 0)
    let running = DispatchGroup()
    let results = Mutex<[Result<[UInt64], any Error>]>([])
    for number in 0..<count {
      running.enter()
      Thread.detachNewThread {
        ready.signal()
        gate.wait()
        let result = Result { try work(number) }
        results.withLock { $0.append(result) }
        running.leave()
      }
    }
    for _ in 0..<count { ready.wait() }
    let start = Stopwatch.now
    for _ in 0..<count { gate.signal() }
    running.wait()
    let elapsed = Stopwatch.now - start
    let samples = try results.withLock { $0 }.flatMap { try $0.get() }
    return Outcome(nanoseconds: elapsed, samples: samples)
  }
}
