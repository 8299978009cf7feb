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

  /// The requests that the command accepts.
  enum Request {
    case help
    case list
    /// Measure the cost of an observed store during that many seconds without activity.
    case idle(seconds: Int)
    /// Act as the second process of a workload, on that file.
    case write(path: String)
    case run(Invocation)
  }

  static let usage = """
    Usage: benchmarks [--only W2,W3-records] [--runs N] [--scale F] [--json FILE] [--chart FILE]
                      [--library NAME] [--contender TEXT] [--list]
           benchmarks --idle SECONDS

      --only LIST     run these workloads; a name without its variant takes every variant
      --runs N        timed runs of each contender, at least 1 (5)
      --scale F       factor on row counts, above 0 and at most 1, for a quick look (1)
      --json FILE     write every figure as JSON as well
      --chart FILE    draw the ratios to SQLite's C API as SVG as well
      --library NAME  only sqlite, grdb or modelStore: for a profiler, without ratios
      --contender TEXT
                      only those with that in their name, likewise
      --list          name the workloads and stop
      --idle SECONDS  processor time of an observed store while nothing happens; no workloads

    Files are created under $TMPDIR, or /tmp, and removed at the end.
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
      case "--only":
        invocation.only = try value(of: word, from: &rest).split(separator: ",").map(String.init)
      case "--runs":
        let text = try value(of: word, from: &rest)
        guard let runs = Int(text), runs >= 1 else {
          throw UsageError("--runs takes a whole number of at least 1; got \(text).")
        }
        invocation.runs = runs
      case "--scale":
        let text = try value(of: word, from: &rest)
        guard let scale = Double(text), scale > 0, scale <= 1 else {
          throw UsageError("--scale takes a number above 0 and at most 1; got \(text).")
        }
        invocation.scale = scale
      case "--library":
        let name = try value(of: word, from: &rest)
        guard let library = Contender.Library(rawValue: name) else {
          throw UsageError("--library takes sqlite, grdb or modelStore; got \(name).")
        }
        invocation.library = library
      case "--contender":
        invocation.contender = try value(of: word, from: &rest)
      case "--json":
        invocation.jsonPath = try value(of: word, from: &rest)
      case "--chart":
        invocation.chartPath = try value(of: word, from: &rest)
      default:
        throw UsageError("Unknown option \(word).")
      }
    }
    return .run(invocation)
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
