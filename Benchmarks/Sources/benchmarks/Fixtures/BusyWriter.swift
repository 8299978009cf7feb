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

/// One-row commits by a thread of their own for as long as something else happens.
final class BusyWriter: Sendable {
  private let longest = Atomic<UInt64>(0)
  private let isEnding = Atomic(false)
  private let hasEnded = DispatchSemaphore(value: 0)

  /// - Parameter commit: Commits once.
  private init(_ commit: @escaping @Sendable () throws -> Void) {
    Thread.detachNewThread { [self] in
      while !isEnding.load(ordering: .relaxed) {
        let start = Stopwatch.now
        do {
          try commit()
        } catch {
          StandardError.print("A commit beside the workload failed: \(error)")
        }
        longest.max(Stopwatch.now - start, ordering: .relaxed)
        // The writer is not held all the time by somebody who writes.
        usleep(200)
      }
      hasEnded.signal()
    }
  }

  /// The nanoseconds that the longest of the commits took that ran while `body` did.
  static func longestCommit(
    _ commit: @escaping @Sendable () throws -> Void, during body: () throws -> Void
  ) throws -> UInt64 {
    let writer = BusyWriter(commit)
    defer { writer.isEnding.store(true, ordering: .relaxed) }
    usleep(20_000)
    try body()
    writer.isEnding.store(true, ordering: .relaxed)
    writer.hasEnded.wait()
    return writer.longest.load(ordering: .relaxed)
  }
}
