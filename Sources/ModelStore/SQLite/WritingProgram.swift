#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// This program, as the change journal and the list of migrations name it.
struct WritingProgram: Sendable {
  let name: String
  let process: Int64

  /// Creates the value for the current process.
  init() {
    let path = CommandLine.arguments.first ?? ""
    name = path.split(separator: "/").last.map(String.init) ?? ""
    process = Int64(getpid())
  }

  /// Microseconds since 1970-01-01 00:00:00 UTC, by the system's clock.
  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}
