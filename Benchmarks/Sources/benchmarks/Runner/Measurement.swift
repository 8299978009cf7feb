import Dispatch

/// The result of one run of one contender.
struct Measurement {
  /// How the run was timed.
  enum Timing {
    /// Nanoseconds for all operations together; the run has no percentiles.
    case whole(nanoseconds: UInt64, operations: Int)
    /// Nanoseconds of each operation timed alone.
    case each([UInt64])
  }

  let timing: Timing
  /// A digest of the rows that the run read or wrote, compared across contenders; nil if each
  /// operation checks its own answer.
  let digest: Int64?
  /// Other figures of the run, such as memory use or counts.
  let figures: [Figure]

  /// A number that is not the time of an operation: "bytes a row", "rows written a move".
  struct Figure {
    let name: String
    let value: Double
  }

  init(_ timing: Timing, digest: Int64? = nil, figures: [Figure] = []) {
    self.timing = timing
    self.digest = digest
    self.figures = figures
  }

  /// The run's one figure: the mean of a whole batch, or the median of single operations.
  var nanosecondsPerOperation: Double {
    switch timing {
    case .whole(let nanoseconds, let operations): Double(nanoseconds) / Double(operations)
    case .each(let samples): samples.map { Double($0) }.median
    }
  }

  var samples: [UInt64] {
    switch timing {
    case .whole: []
    case .each(let samples): samples
    }
  }
}

/// The monotonic clock of all measurements, in nanoseconds.
enum Stopwatch {
  static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

  /// Times `work` as a whole.
  static func whole(
    operations: Int, _ work: () throws -> Void
  ) rethrows -> Measurement.Timing {
    let start = now
    try work()
    return .whole(nanoseconds: now - start, operations: operations)
  }

  /// Times one operation after another, as ``collect(limit:countMin:budget:_:)`` does.
  @inline(__always)
  static func each(
    limit: Int, budget: UInt64 = 1_000_000_000, _ operation: (Int) throws -> Void
  ) rethrows -> Measurement.Timing {
    try collect(limit: limit, budget: budget) { index in
      let start = now
      try operation(index)
      return now - start
    }
  }

  /// Collects the times that `operation` measured itself until `limit` samples are taken, or until
  /// `budget` nanoseconds are spent and at least `countMin` are taken. So a slow contender gives
  /// fewer samples instead of a longer wait.
  @inline(__always)
  static func collect(
    limit: Int, countMin: Int = 5, budget: UInt64 = 1_000_000_000,
    _ operation: (Int) throws -> UInt64
  ) rethrows -> Measurement.Timing {
    var samples: [UInt64] = []
    samples.reserveCapacity(limit)
    let deadline = now + budget
    while samples.count < limit, samples.count < countMin || now < deadline {
      samples.append(try operation(samples.count))
    }
    return .each(samples)
  }

  /// The cost of reading the clock twice: the lower limit of every single-operation figure.
  static var cost: Double {
    var samples: [Double] = []
    for _ in 0..<10_000 {
      let start = now
      samples.append(Double(now - start))
    }
    return samples.median
  }
}

extension [Double] {
  /// The middle value, or the mean of the two middle values. The array must not be empty.
  var median: Double {
    let sorted = self.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2)
      ? (sorted[middle - 1] + sorted[middle]) / 2
      : sorted[middle]
  }
}

extension [UInt64] {
  /// The nearest-rank percentile. The array must be sorted and must not be empty.
  func percentile(_ percent: Double) -> Double {
    let rank = Int((percent / 100 * Double(count)).rounded(.up))
    return Double(self[Swift.max(rank, 1) - 1])
  }
}
