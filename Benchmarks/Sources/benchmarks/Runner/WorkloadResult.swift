/// The figures of one workload, ready for the table and for JSON. Times are nanoseconds for one
/// operation.
struct WorkloadResult: Codable {
  let id: String
  let title: String
  let unit: String
  /// The settings of every contender.
  let policy: [String: String]
  let contenders: [ContenderResult]
  /// Nil in reports from before programs were measured.
  let peers: Workload.Peers?
  /// The contenders that could not run here, each with the reason.
  let missing: [String]?

  init(
    workload: Workload, policy: [String: String], results: [(Contender, [Measurement])],
    missing: [String]
  ) {
    peers = workload.peers
    self.missing = missing
    id = workload.id
    title = workload.title
    unit = workload.unit
    self.policy = policy
    let figures = results.map { contender, measurements in
      (contender: contender, runs: measurements.map(\.nanosecondsPerOperation))
    }
    // Ratios refer to the fastest variant of a library, never to the most convenient one.
    func fastest(_ library: Contender.Library) -> [Double]? {
      figures.filter { $0.contender.library == library }
        .map(\.runs)
        .min { $0.median < $1.median }
    }
    let sqlite = fastest(.sqlite)
    let grdb = fastest(.grdb)
    let sqliteUtils = fastest(.sqliteUtils)
    let isAlone = sqlite == nil && grdb == nil && sqliteUtils == nil
    let yardsticks = ContenderResult.Yardsticks(
      sqlite: sqlite, grdb: grdb, sqliteUtils: sqliteUtils,
      first: isAlone ? figures.first?.runs : nil)
    contenders = results.map { contender, measurements in
      ContenderResult(contender: contender, measurements: measurements, to: yardsticks)
    }
  }

  /// The workload as lines of text: one heading, one line for each contender.
  var table: String {
    let heading = "\(id)  \(title)"
    let libraries = peers == .programs ? ["× sqlite3", "× utils"] : ["× SQLite", "× GRDB"]
    let ratios = contenders.contains { $0.ratioToFirst != nil } ? ["× first"] : libraries
    let titles = ["µs/\(unit)", "min", "max", "p50", "p99"] + ratios
    let columns = "  " + "".padded(to: nameWidth) + titles.map { $0.aligned(to: 10) }.joined()
    let absent = (missing ?? []).map { "  MISSING  " + $0 }
    return ([heading, columns] + contenders.flatMap { $0.lines(nameWidth: nameWidth) } + absent)
      .joined(separator: "\n")
  }

  private var nameWidth: Int {
    contenders.map(\.name.count).max() ?? 0
  }
}

/// The figures of one contender in one workload.
struct ContenderResult: Codable {
  let name: String
  let library: Contender.Library
  /// One figure for each run, in the order of the runs.
  let runs: [Double]
  let median: Double
  let min: Double
  let max: Double
  /// The number of single operations behind the percentiles; 0 if the batch was timed as a whole.
  let sampleCount: Int
  let p50: Double?
  /// Nil below 100 samples, because the 99th percentile would only be the maximum.
  let p99: Double?
  /// This contender's figure divided by that of the fastest SQLite variant. Each run is divided by
  /// its neighbouring run, and the ratio is the median, so a drift of the machine cancels out.
  let ratioToSQLite: Double?
  /// The same ratio to the fastest GRDB variant.
  let ratioToGRDB: Double?
  /// The same ratio to sqlite-utils, among programs.
  let ratioToSQLiteUtils: Double?
  /// The same ratio to the workload's first contender, if all are of one library.
  let ratioToFirst: Double?
  /// Other figures of the runs.
  let figures: [FigureResult]

  /// The runs of the contenders to which the others are compared; nil where there is none.
  struct Yardsticks {
    var sqlite: [Double]?
    var grdb: [Double]?
    var sqliteUtils: [Double]?
    var first: [Double]?
  }

  init(contender: Contender, measurements: [Measurement], to yardsticks: Yardsticks) {
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
    func ratio(_ yardstick: [Double]?) -> Double? { yardstick.map { zip(runs, $0).map(/).median } }
    ratioToSQLite = ratio(yardsticks.sqlite)
    ratioToGRDB = ratio(yardsticks.grdb)
    ratioToSQLiteUtils = ratio(yardsticks.sqliteUtils)
    ratioToFirst = ratio(yardsticks.first)
    figures = FigureResult.all(in: measurements)
  }

  func lines(nameWidth: Int) -> [String] {
    let times = [median, min, max, p50, p99].map { $0.map { $0 / 1000 } }
    let ratios = ratioToFirst.map { [$0] } ?? [ratioToSQLite, ratioToGRDB ?? ratioToSQLiteUtils]
    let cells = (times + ratios).map { value in
      (value.map(\.shortText) ?? "–").aligned(to: 10)
    }
    return ["  " + name.padded(to: nameWidth) + cells.joined()] + figures.map { "    " + $0.text }
  }
}

/// One figure of a contender that is not a time: the median of its runs, and their spread.
struct FigureResult: Codable {
  let name: String
  let median: Double
  let min: Double
  let max: Double

  /// Returns the figures of the runs, in the order of the first run.
  static func all(in measurements: [Measurement]) -> [FigureResult] {
    (measurements.first?.figures ?? []).map { figure in
      let values = measurements.flatMap(\.figures).filter { $0.name == figure.name }.map(\.value)
      return FigureResult(
        name: figure.name, median: values.median, min: values.min() ?? 0, max: values.max() ?? 0)
    }
  }

  var text: String {
    "\(name): \(median.shortText) (\(min.shortText)–\(max.shortText))"
  }
}

extension Double {
  /// At least three significant digits, without an exponent: 0.642, 12.5, 151.0, 545301.2.
  var shortText: String {
    // A difference of two measurements can be negative.
    if self < 0 { return "-" + (-self).shortText }
    let places = magnitude < 10 ? 3 : magnitude < 100 ? 2 : 1
    let factor = [1, 10, 100, 1000][places]
    let scaled = Int((self * Double(factor)).rounded())
    let fraction = String(scaled % factor)
    let zeros = String(repeating: "0", count: places - fraction.count)
    return "\(scaled / factor).\(zeros)\(fraction)"
  }
}

extension String {
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - count))
  }

  func aligned(to width: Int) -> String {
    String(repeating: " ", count: Swift.max(0, width - count)) + self
  }
}
