#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The clock of `ContinuousClock`, in nanoseconds.
///
/// A monitored write reads it eight times. Whole numbers are cheaper to subtract and add than the
/// 128 bits of a `Duration`.
enum ContinuousTime {
  /// The nanoseconds since some moment before the process began.
  static var now: Int64 {
    var time = timespec()
    #if os(Linux)
      clock_gettime(CLOCK_BOOTTIME, &time)
    #else
      clock_gettime(CLOCK_MONOTONIC_RAW, &time)
    #endif
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
