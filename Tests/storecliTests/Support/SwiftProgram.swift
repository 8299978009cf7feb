import Foundation
import Testing

/// Swift source that a test has compiled against the built library, as an application would be.
enum SwiftProgram {
  /// The build directory, in which the program under test is.
  private static let build = URL(fileURLWithPath: Workplace.program).deletingLastPathComponent()

  private static let modules = build.appendingPathComponent("Modules").path

  /// The file in which a build lists the object files of a module.
  private static func objectList(of module: String) -> URL {
    build.appendingPathComponent("\(module).build/output-file-map.json")
  }

  private static let linkedModules = ["ModelStore", "SchemaCompiler"]

  /// The object files of the library. Others may remain from sources that are gone.
  private static func objects() throws -> [String] {
    try linkedModules.flatMap { module in
      let list = try JSONDecoder().decode(
        [String: [String: String]].self, from: Data(contentsOf: objectList(of: module)))
      return list.values.compactMap { $0["object"] }.sorted()
    }
  }

  /// The header of SQLite, which the library imports.
  private static let header = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Sources/CSQLite").path

  private static let compiler: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "")
    .split(separator: ":").map { "\($0)/swiftc" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Whether the build is one that keeps the object files of each module.
  static let isAvailable =
    compiler != nil
    && linkedModules.allSatisfy {
      FileManager.default.fileExists(atPath: objectList(of: $0).path)
    }

  /// Compiles `files`, names of source files in `place`, to the program `name` there.
  ///
  /// - Returns: What the compiler reports; empty when it succeeds.
  static func compile(_ files: [String], to name: String, in place: Workplace) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(compiler))
    var words = [
      "-swift-version", "6", "-warnings-as-errors", "-module-name", "generated", "-I", modules,
      "-I", header, "-o", place.path(name), "-lsqlite3",
    ]
    words += files.map { place.path($0) }
    words += try objects()
    process.arguments = words
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
