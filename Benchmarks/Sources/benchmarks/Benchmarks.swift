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
    let workloads = Workload.all(scale: invocation.scale).filter { invocation.selects($0.id) }
    guard !workloads.isEmpty else {
      let wanted = invocation.only.joined(separator: ",")
      let names = Workload.all(scale: invocation.scale).map(\.id).joined(separator: ", ")
      throw UsageError("No workload is named \(wanted). There are \(names).")
    }
    let root = try TemporaryDirectory()
    defer { root.remove() }

    var report = Report(runs: invocation.runs, scale: invocation.scale)
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
  }
}
