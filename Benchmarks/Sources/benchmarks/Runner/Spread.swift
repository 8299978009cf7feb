/// The figures of several runs: their median, lowest and highest.
struct Spread: Equatable {
  let median: Double
  let min: Double
  let max: Double

  /// - Precondition: `values` is not empty.
  init(_ values: [Double]) {
    precondition(!values.isEmpty, "A spread needs a run.")
    median = values.median
    min = values.min() ?? 0
    max = values.max() ?? 0
  }

  init(median: Double, min: Double, max: Double) {
    self.median = median
    self.min = min
    self.max = max
  }

  var text: String { "\(median.shortText) (\(min.shortText)–\(max.shortText))" }
}

/// How a figure moved between two reports, with regard to the spread of both.
enum Movement: Equatable {
  /// No run of the one report reaches a run of the other.
  case moved
  /// Each median lies outside the other report's runs, but some runs overlap.
  case uncertain
  /// Within what the runs differ anyway.
  case noise

  /// Changes below this are noise, however narrow the spread: builds differ by as much.
  private static let shareMin = 0.03
  /// The same where a report has too few runs for a spread.
  private static let shareMinOfFewRuns = 0.2
  /// The runs from which a spread says something.
  static let runCountMin = 3

  /// - Parameter runs: The runs of the report that has fewer.
  init(from old: Spread, to new: Spread, runs: Int) {
    let hasSpread = runs >= Self.runCountMin
    let smallest = hasSpread ? Self.shareMin : Self.shareMinOfFewRuns
    let larger = Swift.max(abs(old.median), abs(new.median))
    guard abs(new.median - old.median) > smallest * larger else {
      self = .noise
      return
    }
    let isApart = new.min > old.max || new.max < old.min
    if isApart, hasSpread {
      self = .moved
    } else if !(old.min...old.max).contains(new.median), !(new.min...new.max).contains(old.median) {
      self = .uncertain
    } else {
      self = .noise
    }
  }
}
