import Foundation
import ModelStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The cost of an observed store while nothing happens, with another process that uses the same
/// file.
enum IdleStore {
  /// Prints the processor time that this process takes in `seconds` seconds, by `getrusage`.
  static func measure(seconds: Int) throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let path = directory.file("idle.sqlite")
    let store = try Store.createTracks(Track.generate(10_000), at: path, synchronous: .full)
    let recorder = EventRecorder<FieldEvent<String>>()
    let subscription = try store.observe(\StoredTrack.title, of: 1) { recorder.received($0) }
    let live = try store.liveQuery(StoredTrack.all.order { $0.milliseconds })
    let writer = try ForeignWriter(.benchmarks, path: path)
    _ = try writer.run("UPDATE track SET title = 'seen' WHERE id = 1")
    _ = try recorder.next { $0.new == "seen" }
    // By then, the checks that follow a commit have ended.
    Thread.sleep(forTimeInterval: 5)
    let before = try processorTime()
    Thread.sleep(forTimeInterval: TimeInterval(seconds))
    let taken = try processorTime() - before
    withExtendedLifetime((subscription, live, writer)) {}
    let share = Double(taken) / Double(seconds) / 1_000_000 * 100
    print(
      "\(taken) µs of processor time in \(seconds) s: \(String(format: "%.4f", share)) % of a core")
  }

  /// In microseconds.
  private static func processorTime() throws -> Int {
    var usage = rusage()
    #if canImport(Glibc)
      let code = getrusage(RUSAGE_SELF.rawValue, &usage)
    #else
      let code = getrusage(RUSAGE_SELF, &usage)
    #endif
    guard code == 0 else { throw BenchmarkFailure("getrusage failed: errno \(errno).") }
    return [usage.ru_utime, usage.ru_stime].reduce(0) {
      $0 + Int($1.tv_sec) * 1_000_000 + Int($1.tv_usec)
    }
  }
}
