#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The benchmark command: parses its options, runs the workloads, prints the table, writes the
/// JSON and the chart.
@main
struct Benchmarks {
  static func main() async {
    do {
      switch try Invocation.parse(Array(CommandLine.arguments.dropFirst())) {
      case .help:
        print(Invocation.usage)
      case .list:
        for workload in Workload.all(scale: 1) {
          print("\(workload.id)  \(workload.title)")
        }
      case .idle(let seconds):
        try IdleStore.measure(seconds: seconds)
      case .write(let path):
        try ForeignWriter.serve(path)
      case .launch:
        try Launcher.serve()
      case .run(let invocation):
        try await run(invocation)
      }
    } catch let error as UsageError {
      StandardError.print("\(error.message)\n\n\(Invocation.usage)")
      exit(64)
    } catch {
      StandardError.print("error: \(error)")
      exit(1)
    }
  }

  private static func run(_ invocation: Invocation) async throws {
    // Read before the first workload, so that a bad path is reported at once.
    let old = try invocation.comparedPath.map { try Report.read(from: $0) }
    let report: Report
    if let path = invocation.readPath {
      report = try Report.read(from: path)
      if let path = invocation.chartPath { try Chart(report).write(to: path) }
      print(([report.header] + report.workloads.map(\.table)).joined(separator: "\n\n"))
    } else {
      report = try await measure(invocation)
    }
    guard let old else { return }
    let comparison = Comparison(from: old, to: report)
    print("\n\(comparison.table)")
    if invocation.failsOnLoss, !comparison.losses.isEmpty { exit(1) }
  }

  /// Runs the workloads, prints their tables and writes the files that were asked for.
  private static func measure(_ invocation: Invocation) async throws -> Report {
    let workloads = Workload.all(scale: invocation.scale).filter { invocation.selects($0.id) }
    guard !workloads.isEmpty else {
      let wanted = invocation.only.joined(separator: ",")
      let names = Workload.all(scale: invocation.scale).map(\.id).joined(separator: ", ")
      throw UsageError("No workload is named \(wanted). There are \(names).")
    }
    let root = try TemporaryDirectory()
    defer { root.remove() }

    var report = try Report(runs: invocation.runs, scale: invocation.scale, directory: root)
    func save() throws {
      if let path = invocation.jsonPath { try report.write(to: path) }
      if let path = invocation.chartPath { try Chart(report).write(to: path) }
    }
    // Saved before the first workload, so that a bad path is reported at once. Saved after each
    // workload, so that an interrupted run keeps its figures.
    try save()
    print(report.header)
    print("Files in \(root.path), removed at the end; FULL costs nothing if that is in memory")
    let runner = Runner(
      runs: invocation.runs, library: invocation.library, contender: invocation.contender)
    for workload in workloads {
      let result = try await runner.run(workload, in: root)
      report.workloads.append(result)
      try save()
      print("\n\(result.table)")
    }
    let missing = report.workloads.flatMap { result in
      (result.missing ?? []).map { "\(result.id): \($0)" }
    }
    if !missing.isEmpty {
      print("\nMISSING, so the report is not complete:\n  " + missing.joined(separator: "\n  "))
    }
    return report
  }
}
