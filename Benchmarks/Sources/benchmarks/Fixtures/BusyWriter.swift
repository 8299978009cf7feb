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

/// One-row commits on a separate thread, for as long as something else happens.
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
        // A real program does not occupy the writer all the time.
        usleep(200)
      }
      hasEnded.signal()
    }
  }

  /// Returns the nanoseconds of the longest commit that ran during `body`.
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
