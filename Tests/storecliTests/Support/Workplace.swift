import Foundation
import StoreCommand
import Synchronization
import Testing

/// What one run of the command line did.
struct Outcome: Equatable {
  var code: Int32
  var out: String
  var err: String
}

/// A directory in which the command line runs. Each test has its own.
final class Workplace {
  let directory: String
  /// Variables of the runs in addition to the fixed ones.
  var environment: [String: String] = [:]
  /// The time of runs within this process, in microseconds since 1970; nil for the system's clock.
  var time: Int64?

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

  func makeDirectory(_ name: String) throws {
    try FileManager.default.createDirectory(
      atPath: path(name), withIntermediateDirectories: true)
  }

  /// The names in a directory, sorted.
  func names(in directory: String = ".") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(directory)).sorted()
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
    process.environment = variables
    return process
  }

  /// The variables of every run.
  private var variables: [String: String] {
    environment.merging(
      ["HOME": directory, "PATH": "/usr/bin:/bin", "COLUMNS": "80", "TMPDIR": directory]
    ) { mine, _ in mine }
  }

  /// Runs the command line to its end, within this process.
  ///
  /// Where a process is the subject, use ``runProcess(_:input:launching:)``: signals, streams,
  /// limits of the system, the name that the change journal keeps, `watch`, a store that the test
  /// has open.
  @discardableResult
  func run(_ arguments: String..., input: String = "") throws -> Outcome {
    try run(arguments, input: input)
  }

  func run(_ arguments: [String], input: String = "") throws -> Outcome {
    guard OwnDirectory.isAvailable else { return try runProcess(arguments, input: input) }
    return try run(Program(arguments: arguments), input: input)
  }

  /// Runs a command line of an application to its end, within this process.
  func run(_ program: Program, input: String = "") throws -> Outcome {
    let written = Mutex<(data: [UInt8], talk: [UInt8])>(([], []))
    let code = Mutex<Int32?>(nil)
    let (variables, time) = (variables, time)
    OwnDirectory.perform(in: directory) {
      let surroundings = Surroundings(
        environment: variables, input: Array(input.utf8), time: time
      ) { bytes, output in
        written.withLock { written in
          switch output {
          case .data: written.data += bytes
          case .talk: written.talk += bytes
          }
        }
      }
      let status = program.run(in: surroundings)
      code.withLock { $0 = status }
    }
    let status = code.withLock { $0 }
    let (data, talk) = written.withLock { $0 }
    return Outcome(
      code: try #require(status), out: String(decoding: data, as: UTF8.self),
      err: String(decoding: talk, as: UTF8.self))
  }

  /// Runs the built program to its end.
  @discardableResult
  func runProcess(
    _ arguments: String..., input: String = "", launching launcher: [String] = []
  ) throws -> Outcome {
    try runProcess(arguments, input: input, launching: launcher)
  }

  func runProcess(
    _ arguments: [String], input: String = "", launching launcher: [String] = []
  ) throws -> Outcome {
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
    let isMade = FileManager.default.createFile(
      atPath: path("music.store"), contents: try Self.music.get(),
      attributes: [.posixPermissions: 0o600])
    try #require(isMade)
    environment["STORECLI_DB"] = path("music.store")
  }

  /// The store as the built program leaves it, for all tests to copy.
  private static let music = Result {
    let place = try Workplace()
    let outcome = try place.runProcess("demo", "--keep", place.directory)
    try #require(outcome.code == 0, "\(outcome)")
    return try Data(contentsOf: place.url("music.store"))
  }
}
