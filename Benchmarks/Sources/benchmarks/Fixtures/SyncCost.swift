import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The cost of making one small write durable on the file system of a run.
///
/// A ratio of durable commits means little without it: where a sync is free, shared syncs win
/// nothing.
enum SyncCost {
  /// The bytes of one page in the log, with its frame header.
  private static let frameSize = 4096 + 24
  private static let sampleCount = 65

  /// Returns the median nanoseconds of one sync, by the call that SQLite makes, of a file that
  /// grows by a page each time, as a log does.
  static func measure(in directory: TemporaryDirectory) throws -> Double {
    let path = directory.file("sync")
    let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw BenchmarkFailure("Cannot create \(path): errno \(errno).") }
    defer {
      close(descriptor)
      unlink(path)
    }
    let frame = [UInt8](repeating: 7, count: frameSize)
    var samples: [Double] = []
    for _ in 0..<sampleCount {
      guard write(descriptor, frame, frame.count) == frame.count else {
        throw BenchmarkFailure("Cannot write \(path): errno \(errno).")
      }
      let start = Stopwatch.now
      guard sync(descriptor) == 0 else {
        throw BenchmarkFailure("Cannot sync \(path): errno \(errno).")
      }
      samples.append(Double(Stopwatch.now - start))
    }
    return samples.median
  }

  private static func sync(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
      // SQLite's default there; F_FULLFSYNC only under a pragma.
      fsync(descriptor)
    #else
      fdatasync(descriptor)
    #endif
  }
}
