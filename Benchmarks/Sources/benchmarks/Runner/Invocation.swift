/// The options of one invocation of the command.
struct Invocation {
  /// The timed runs of each contender, in addition to the warm-up run.
  var runs = 5
  /// The factor on every row count. Quote ratios only at 1.
  var scale = 1.0
  /// The requested workloads; `W2` stands for every name that starts with `W2-`. Empty means all.
  var only: [String] = []
  /// The library whose contenders run, nil for all. For profilers.
  var library: Contender.Library?
  /// A part of the names of the contenders that run, nil for all. For profilers.
  var contender: String?
  /// The path of the JSON report, if requested.
  var jsonPath: String?
  /// The path of a chart of the ratios, if requested.
  var chartPath: String?
  /// The path of an earlier JSON report to compare with, if requested.
  var comparedPath: String?
  /// The path of a JSON report that takes the place of a run.
  var readPath: String?
  /// Whether a loss beyond noise makes the program fail.
  var failsOnLoss = false

  /// The requests that the command accepts.
  enum Request {
    case help
    case list
    /// Measure the cost of an observed store during that many seconds without activity.
    case idle(seconds: Int)
    /// Act as the second process of a workload, on that file.
    case write(path: String)
    /// Act as the process that starts the programs of a workload.
    case launch
    case run(Invocation)
  }

  static let usage = """
    Usage: benchmarks [--only W2,W3-records] [--runs N] [--scale F] [--json FILE] [--chart FILE]
                      [--compare OLD] [--read FILE] [--fail-on-loss]
                      [--library NAME] [--contender TEXT] [--list]
           benchmarks --idle SECONDS

      --only LIST     run these workloads; a name without its variant takes every variant
      --runs N        timed runs of each contender, at least 1 (5)
      --scale F       factor on row counts, above 0 and at most 1, for a quick look (1)
      --json FILE     write every figure as JSON as well
      --chart FILE    draw the ratios to SQLite as SVG as well
      --compare OLD   print what moved since the JSON report OLD, with regard to both spreads
      --read FILE     run nothing; take the figures of the JSON report FILE
      --fail-on-loss  with --compare: exit with 1 if a figure of ModelStore is worse beyond noise
      --library NAME  only sqlite, grdb, modelStore, sqliteUtils or postgres: for a profiler, without
                      ratios
      --contender TEXT
                      only those with that in their name, likewise
      --list          name the workloads and stop
      --idle SECONDS  processor time of an observed store while nothing happens; no workloads

    Files are created under $TMPDIR, or /tmp, and removed at the end. The programs of W14 and W15
    are storecli of $STORECLI, else of .build/release here or above, and sqlite3 and sqlite-utils of
    $PATH. W22 to W26 need the trait Postgres, and the server of $BENCHMARK_POSTGRES. What is
    missing is reported as MISSING.
    """

  static func parse(_ words: [String]) throws -> Request {
    var invocation = Invocation()
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "--help", "-h":
        return .help
      case "--list":
        return .list
      case "--idle":
        let text = try value(of: word, from: &rest)
        guard let seconds = Int(text), seconds >= 1 else {
          throw UsageError("--idle takes a whole number of seconds, at least 1; got \(text).")
        }
        return .idle(seconds: seconds)
      case ForeignWriter.option:
        return .write(path: try value(of: word, from: &rest))
      case Launcher.option:
        return .launch
      default:
        try invocation.take(word, from: &rest)
      }
    }
    guard invocation.comparedPath != nil || !invocation.failsOnLoss else {
      throw UsageError("--fail-on-loss needs --compare.")
    }
    return .run(invocation)
  }

  /// Takes an option of a run.
  private mutating func take(_ option: String, from rest: inout ArraySlice<String>) throws {
    func value() throws -> String { try Self.value(of: option, from: &rest) }
    switch option {
    case "--only": only = try value().split(separator: ",").map(String.init)
    case "--runs":
      let text = try value()
      guard let count = Int(text), count >= 1 else {
        throw UsageError("--runs takes a whole number of at least 1; got \(text).")
      }
      runs = count
    case "--scale":
      let text = try value()
      guard let factor = Double(text), factor > 0, factor <= 1 else {
        throw UsageError("--scale takes a number above 0 and at most 1; got \(text).")
      }
      scale = factor
    case "--library":
      let name = try value()
      guard let chosen = Contender.Library(rawValue: name) else {
        let names = Contender.Library.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError("--library takes one of \(names); got \(name).")
      }
      library = chosen
    case "--contender": contender = try value()
    case "--json": jsonPath = try value()
    case "--chart": chartPath = try value()
    case "--compare": comparedPath = try value()
    case "--read": readPath = try value()
    case "--fail-on-loss": failsOnLoss = true
    default: throw UsageError("Unknown option \(option).")
    }
  }

  /// Returns whether the workload called `id` was requested.
  func selects(_ id: String) -> Bool {
    only.isEmpty || only.contains { id == $0 || id.hasPrefix($0 + "-") }
  }

  private static func value(
    of option: String, from rest: inout ArraySlice<String>
  ) throws -> String {
    guard let value = rest.popFirst() else { throw UsageError("\(option) needs a value.") }
    return value
  }
}

/// An invalid command line; the message says what to write instead.
struct UsageError: Error {
  let message: String

  init(_ message: String) {
    self.message = message
  }
}
