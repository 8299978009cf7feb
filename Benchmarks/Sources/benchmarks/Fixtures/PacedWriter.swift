import Dispatch
import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One-row commits on a thread of their own, as many a second for every contender, for as long as
/// something else happens.
final class PacedWriter: Sendable {
  /// What the writer did.
  struct Work {
    var commitCount: Int
    var nanoseconds: UInt64

    var figure: Measurement.Figure {
      Measurement.Figure(
        name: "commits/s beside it", value: Double(commitCount) * 1e9 / Double(nanoseconds))
    }
  }

  /// The nanoseconds between two commits.
  private static let interval: UInt64 = 1_000_000

  private let commitCount = Atomic<Int>(0)
  private let isEnding = Atomic(false)
  private let failure = Mutex<(any Error)?>(nil)
  private let hasEnded = DispatchSemaphore(value: 0)

  private init(_ commit: @escaping @Sendable () throws -> Void) {
    Thread.detachNewThread { [self] in
      do {
        var next = Stopwatch.now
        while !isEnding.load(ordering: .relaxed) {
          let now = Stopwatch.now
          if now < next {
            usleep(UInt32((next - now) / 1000 + 1))
            continue
          }
          // A late commit is not made up for: the pace would depend on the reads.
          next = now + Self.interval
          try commit()
          commitCount.add(1, ordering: .relaxed)
        }
      } catch {
        failure.withLock { $0 = error }
      }
      hasEnded.signal()
    }
  }

  /// Runs `body` while `commit` is called again and again.
  ///
  /// - Throws: The error of `body`, or of a commit.
  static func run<Value>(
    _ commit: @escaping @Sendable () throws -> Void, during body: () throws -> Value
  ) throws -> (value: Value, work: Work) {
    let writer = PacedWriter(commit)
    let start = Stopwatch.now
    let result = Result { try body() }
    let elapsed = Stopwatch.now - start
    writer.isEnding.store(true, ordering: .relaxed)
    writer.hasEnded.wait()
    if let failure = writer.failure.withLock({ $0 }) { throw failure }
    let count = writer.commitCount.load(ordering: .relaxed)
    return (try result.get(), Work(commitCount: count, nanoseconds: elapsed))
  }
}
