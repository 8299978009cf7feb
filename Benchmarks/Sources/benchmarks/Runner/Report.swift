internal import RawSQLite

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The figures of one invocation. A later run is compared with the JSON form.
struct Report: Codable {
  let runs: Int
  let scale: Double
  /// The library that every contender links, so that a ratio never compares two versions of SQLite.
  let sqliteVersion: String
  let grdbVersion: String
  /// The nanoseconds that timing one operation adds to it.
  let clockCost: Double
  /// The nanoseconds of one sync of the log's file, on the file system of this run; nil in older
  /// reports.
  let syncCost: Double?
  var workloads: [WorkloadResult] = []

  /// - Parameter directory: Where the workloads have their files.
  init(runs: Int, scale: Double, directory: TemporaryDirectory) throws {
    self.runs = runs
    self.scale = scale
    sqliteVersion = String(cString: sqlite3_libversion())
    // The manifest pins it with `exact:`; GRDB has no constant to read.
    grdbVersion = "7.10.0"
    clockCost = Stopwatch.cost
    syncCost = try SyncCost.measure(in: directory)
  }

  var header: String {
    let settings = DurabilityPolicy(synchronous: .full).pragmas
      .filter { $0.name != "synchronous" }
      .map { "\($0.name)=\($0.value)" }
      .joined(separator: " ")
    var lines = [
      "SQLite \(sqliteVersion) for all; GRDB \(grdbVersion); "
        + "\(runs) runs after one warm-up, interleaved; scale \(scale)",
      "All contenders: \(settings); synchronous as named",
      "Ratios are to the fastest variant of the library. Reading the clock costs "
        + "\(Int(clockCost)) ns an operation.",
    ]
    if let syncCost {
      lines.append("One sync of a log that grows by a page costs \(Int(syncCost / 1000)) µs here.")
    }
    #if DEBUG
      lines.append("warning: this is a debug build; its figures are meaningless.")
    #endif
    return lines.joined(separator: "\n")
  }

  /// Reads a report that ``write(to:)`` wrote.
  static func read(from path: String) throws -> Report {
    do {
      return try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(filePath: path)))
    } catch {
      throw BenchmarkFailure("No report can be read from \(path): \(error)")
    }
  }

  /// Writes the report as JSON, replacing the file at `path`.
  func write(to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let json = try encoder.encode(self)
    do {
      try json.write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw BenchmarkFailure("The report cannot be written to \(path): \(error)")
    }
  }
}
