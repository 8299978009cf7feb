import Foundation

/// A program that a workload runs.
struct InstalledProgram {
  let path: String

  /// The command line of this project, built in release.
  static func storecli() throws -> InstalledProgram {
    let variables = ProcessInfo.processInfo.environment
    if let path = variables["STORECLI"] {
      guard FileManager.default.isExecutableFile(atPath: path) else {
        throw BenchmarkFailure("STORECLI is \(path), which is not a program.")
      }
      return InstalledProgram(path: path)
    }
    let here = FileManager.default.currentDirectoryPath
    for path in ["\(here)/.build/release/storecli", "\(here)/../.build/release/storecli"]
    where FileManager.default.isExecutableFile(atPath: path) {
      return InstalledProgram(path: path)
    }
    throw MissingPeer(
      message: "storecli is not built. Run swift build -c release --product storecli "
        + "--static-swift-stdlib in the main folder, or set STORECLI to its path.")
  }

  static func sqlite3() throws -> InstalledProgram {
    try find("sqlite3", install: "Install the package sqlite3 of your system.")
  }

  static func sqliteUtils() throws -> InstalledProgram {
    try find("sqlite-utils", install: "Install it with pip install sqlite-utils.")
  }

  static func bash() throws -> InstalledProgram {
    try find("bash", install: "Install the package bash of your system.")
  }

  /// Finds a program in the directories of `$PATH`.
  private static func find(_ name: String, install: String) throws -> InstalledProgram {
    let directories = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
    for directory in directories {
      let path = "\(directory)/\(name)"
      if FileManager.default.isExecutableFile(atPath: path) { return InstalledProgram(path: path) }
    }
    throw MissingPeer(message: "\(name) is not in any directory of PATH. \(install)")
  }

  /// Settings of the `sqlite3` shell that are not in the file: those of a store.
  static let shellArguments = [
    "-batch", "-cmd", "PRAGMA synchronous = FULL", "-cmd", "PRAGMA cache_size = -16384",
  ]
}

/// The place of a contender that is a program: its database, and the launcher that starts it.
final class ProgramSession {
  let path: String
  let launcher: Launcher
  private let output: String
  private var peaks: [Int] = []

  init(in directory: TemporaryDirectory, database path: String) throws {
    self.path = path
    launcher = try Launcher()
    output = directory.file("output")
  }

  /// Runs the program to its end.
  ///
  /// - Returns: Its nanoseconds.
  @discardableResult
  func run(_ program: InstalledProgram, _ arguments: [String]) throws -> UInt64 {
    let outcome = try launcher.run(
      Launcher.Command(program: program.path, arguments: arguments, input: nil, output: output))
    peaks.append(outcome.peakMemory)
    return outcome.nanoseconds
  }

  /// What the last program wrote to standard output.
  func lastOutput() throws -> String { try String(contentsOfFile: output, encoding: .utf8) }

  /// The most memory of any program since this was last read.
  func takePeak() -> Measurement.Figure {
    defer { peaks = [] }
    return Measurement.Figure(
      name: "peak memory in MB", value: Double(peaks.max() ?? 0) / 1_000_000)
  }

  /// The settings that are in the file itself. Every program syncs each commit: FULL is the default
  /// of storecli, and of SQLite for the others.
  func policy() throws -> [String: String] {
    let connection = try RawConnection.opened(asFound: path)
    return ["journal_mode": try connection.text("PRAGMA journal_mode")]
  }

  /// A number that changes when any stored song does.
  func songDigest() throws -> Int64 {
    let connection = try RawConnection.opened(asFound: path)
    // `quote` shows the type of a value too: a number that was stored as text has quotes.
    let values = Song.fieldNames.map { "quote(\($0))" }.joined(separator: " || '|' || ")
    return try connection.textDigest("SELECT \(values) FROM Song ORDER BY id")
  }
}
