/// The figures of one workload, ready for the table and for JSON. Times are nanoseconds for one
/// operation.
struct WorkloadResult: Encodable {
  let id: String
  let title: String
  let unit: String
  /// The settings every contender ran under.
  let policy: [String: String]
  let contenders: [ContenderResult]

  init(
    workload: Workload, policy: [String: String], results: [(Contender, [Measurement])]
  ) {
    id = workload.id
    title = workload.title
    unit = workload.unit
    self.policy = policy
    let figures = results.map { contender, measurements in
      (contender: contender, runs: measurements.map(\.nanosecondsPerOperation))
    }
    // The yardstick is the fastest variant of its library, never the most convenient one.
    func fastest(_ library: Contender.Library) -> [Double]? {
      figures.filter { $0.contender.library == library }
        .map(\.runs)
        .min { $0.median < $1.median }
    }
    let sqlite = fastest(.sqlite)
    let grdb = fastest(.grdb)
    contenders = results.map { contender, measurements in
      ContenderResult(
        contender: contender, measurements: measurements, sqlite: sqlite, grdb: grdb)
    }
  }

  /// The workload as lines of text: one heading, one line for each contender.
  var table: String {
    let heading = "\(id)  \(title)"
    let titles = ["µs/\(unit)", "min", "max", "p50", "p99", "× SQLite", "× GRDB"]
    let columns = "  " + "".padded(to: nameWidth) + titles.map { $0.aligned(to: 10) }.joined()
    return ([heading, columns] + contenders.map { $0.line(nameWidth: nameWidth) })
      .joined(separator: "\n")
  }

  private var nameWidth: Int {
    contenders.map(\.name.count).max() ?? 0
  }
}

/// The figures of one contender in one workload.
struct ContenderResult: Encodable {
  let name: String
  let library: Contender.Library
  /// One figure for each run, in the order of the runs.
  let runs: [Double]
  let median: Double
  let min: Double
  let max: Double
  /// How many single operations the percentiles rest on; 0 where the batch was timed as a whole.
  let sampleCount: Int
  let p50: Double?
  /// Nil below 100 samples, where the 99th percentile would only be the maximum.
  let p99: Double?
  /// This contender's figure over that of the fastest SQLite variant: each run divided by the run
  /// beside it, then the median, so that a machine that drifts does so under the fraction bar too.
  let ratioToSQLite: Double?
  /// The same over the fastest GRDB variant.
  let ratioToGRDB: Double?

  init(
    contender: Contender, measurements: [Measurement], sqlite: [Double]?, grdb: [Double]?
  ) {
    let runs = measurements.map(\.nanosecondsPerOperation)
    let samples = measurements.flatMap(\.samples).sorted()
    name = contender.name
    library = contender.library
    self.runs = runs
    median = runs.median
    min = runs.min() ?? 0
    max = runs.max() ?? 0
    sampleCount = samples.count
    p50 = samples.isEmpty ? nil : samples.percentile(50)
    p99 = samples.count < 100 ? nil : samples.percentile(99)
    ratioToSQLite = sqlite.map { zip(runs, $0).map(/).median }
    ratioToGRDB = grdb.map { zip(runs, $0).map(/).median }
  }

  func line(nameWidth: Int) -> String {
    let times = [median, min, max, p50, p99].map { $0.map { $0 / 1000 } }
    let cells = (times + [ratioToSQLite, ratioToGRDB]).map { value in
      (value.map(\.shortText) ?? "–").aligned(to: 10)
    }
    return "  " + name.padded(to: nameWidth) + cells.joined()
  }
}

extension Double {
  /// Three significant digits at least, no exponent: 0.642, 12.5, 151.0, 545301.2.
  fileprivate var shortText: String {
    let places = magnitude < 10 ? 3 : magnitude < 100 ? 2 : 1
    let factor = [1, 10, 100, 1000][places]
    let scaled = Int((self * Double(factor)).rounded())
    let fraction = String(scaled % factor)
    let zeros = String(repeating: "0", count: places - fraction.count)
    return "\(scaled / factor).\(zeros)\(fraction)"
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - count))
  }

  fileprivate func aligned(to width: Int) -> String {
    String(repeating: " ", count: Swift.max(0, width - count)) + self
  }
}
