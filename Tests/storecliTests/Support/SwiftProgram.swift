import Foundation
import Testing

/// Swift source that a test has compiled against the built library, as an application would be.
enum SwiftProgram {
  /// The modules of the build, beside the program under test.
  private static let modules = URL(fileURLWithPath: Workplace.program)
    .deletingLastPathComponent().appendingPathComponent("Modules").path

  /// The header of SQLite, which the library imports.
  private static let header = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Sources/CSQLite").path

  private static let compiler: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "")
    .split(separator: ":").map { "\($0)/swiftc" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// The object files of the library are where a debug build leaves them.
  static let isAvailable =
    compiler != nil && FileManager.default.fileExists(atPath: modules + "/ModelStore.o")
  static let isNeeded: Comment = "needs swiftc in PATH and the modules of a debug build"

  /// Compiles `files`, names of source files in `place`, to the program `name` there.
  ///
  /// - Returns: What the compiler reports; empty when it succeeds.
  static func compile(_ files: [String], to name: String, in place: Workplace) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(compiler))
    process.arguments =
      [
        "-swift-version", "6", "-warnings-as-errors", "-module-name", "generated", "-I", modules,
        "-I", header,
      ]
      + files.map(place.path) + ["-o", place.path(name)]
      + ["ModelStore.o", "SchemaCompiler.o"].map { modules + "/" + $0 } + ["-lsqlite3"]
    let log = name + ".log"
    try place.write("", to: log)
    process.standardOutput = try FileHandle(forWritingTo: place.url(log))
    process.standardError = process.standardOutput
    try process.run()
    process.waitUntilExit()
    let text = try place.contents(of: log)
    return process.terminationStatus == 0 ? "" : text.isEmpty ? "the compiler failed" : text
  }

  /// Runs the program `name` in `place` and returns its lines.
  static func run(_ name: String, _ arguments: [String], in place: Workplace) throws -> [String] {
    let process = Process()
    process.executableURL = place.url(name)
    process.arguments = arguments
    let log = name + ".out"
    try place.write("", to: log)
    process.standardOutput = try FileHandle(forWritingTo: place.url(log))
    process.standardError = process.standardOutput
    try process.run()
    process.waitUntilExit()
    let lines = try place.contents(of: log).split(separator: "\n").map(String.init)
    return process.terminationStatus == 0
      ? lines : lines + ["exit status \(process.terminationStatus)"]
  }
}
