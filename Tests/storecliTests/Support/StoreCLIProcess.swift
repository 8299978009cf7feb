import Foundation
import Testing

/// What one run of the built program did.
struct Outcome: Equatable {
  var code: Int32
  var out: String
  var err: String
}

/// A directory with the built program at hand. Each test has its own.
final class Workplace {
  let directory: String
  /// Variables of the runs besides the fixed ones.
  var environment: [String: String] = [:]

  init() throws {
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("storecli-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    directory = url.path
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: directory)
    } catch {
      print("could not remove \(directory): \(error)")
    }
  }

  /// The program, beside the tests in the build directory.
  static let program: String = {
    let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    var place = tests.deletingLastPathComponent()
    while place.path != "/" {
      let candidate = place.appendingPathComponent("storecli").path
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
      place = place.deletingLastPathComponent()
    }
    return "storecli"
  }()

  func path(_ name: String) -> String { directory + "/" + name }

  func url(_ name: String) -> URL { URL(fileURLWithPath: path(name)) }

  func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
  }

  func contents(of name: String) throws -> String {
    try String(contentsOfFile: path(name), encoding: .utf8)
  }

  /// A process of the program that was not started yet, its streams going to files.
  func process(_ arguments: [String], launching launcher: [String] = []) throws -> Process {
    let words = launcher + [Self.program] + arguments
    // In the background of a script the tests ignore these, and so would what they start.
    for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    process.currentDirectoryURL = URL(fileURLWithPath: directory)
    process.environment = environment.merging(
      ["HOME": directory, "PATH": "/usr/bin:/bin", "COLUMNS": "80", "TMPDIR": directory]
    ) { mine, _ in mine }
    return process
  }

  /// Runs the program to its end.
  @discardableResult
  func run(_ arguments: String..., input: String = "", launching launcher: [String] = []) throws
    -> Outcome
  {
    try run(arguments, input: input, launching: launcher)
  }

  func run(_ arguments: [String], input: String = "", launching launcher: [String] = []) throws
    -> Outcome
  {
    let process = try process(arguments, launching: launcher)
    let name = UUID().uuidString
    try write(input, to: name + ".in")
    for ending in [".out", ".err"] { try write("", to: name + ending) }
    process.standardInput = try FileHandle(forReadingFrom: url(name + ".in"))
    process.standardOutput = try FileHandle(forWritingTo: url(name + ".out"))
    process.standardError = try FileHandle(forWritingTo: url(name + ".err"))
    try process.run()
    process.waitUntilExit()
    let outcome = Outcome(
      code: process.terminationStatus, out: try contents(of: name + ".out"),
      err: try contents(of: name + ".err"))
    for ending in [".in", ".out", ".err"] {
      try FileManager.default.removeItem(atPath: path(name + ending))
    }
    return outcome
  }

  /// Makes `music.store`, the store of the demonstration, and names it for all runs.
  func makeMusic() throws {
    let outcome = try run("demo", "--keep", directory)
    try #require(outcome.code == 0, "\(outcome)")
    environment["STORECLI_DB"] = path("music.store")
  }
}
