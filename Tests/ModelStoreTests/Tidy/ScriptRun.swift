import Foundation

/// How a program of `Scripts/` ended and what it printed.
struct ScriptRun: Equatable {
  var status: Int32
  var lines: [String]
}

extension ScriptRun {
  /// Runs the script called `name` in `directory`, whose programs are found before the system's.
  init(
    of name: String, _ arguments: [String] = [], in directory: TemporaryDirectory,
    environment: [String: String] = [:]
  ) throws {
    var script = URL(filePath: #filePath).resolvingSymlinksInPath()
    for _ in 1...4 { script.deleteLastPathComponent() }
    script.append(components: "Scripts", name)
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", #"exec "$0" "$@" 2>&1"#, script.path] + arguments
    process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
    process.environment = environment.merging(["PATH": "\(directory.path):/usr/bin:/bin"]) { $1 }
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    status = process.terminationStatus
    lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
