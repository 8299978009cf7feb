/// What moved between two reports.
///
/// Times are compared as ratios to the same yardstick, run by run, so that a slower machine does
/// not look like a slower library. A workload whose contenders are all of one library has its first
/// contender as yardstick. What is left is compared by the clock: yardsticks, and figures such as
/// commits a second. The table shows it, but it is no loss: the machine may have been busy.
struct Comparison {
  /// One figure that moved.
  struct Row {
    let workload: String
    let contender: String
    let library: Contender.Library
    /// The name of the figure: "× SQLite C API", "µs", "bytes a row".
    let measure: String
    let old: Spread
    let new: Spread
    let movement: Movement
    let isLoss: Bool
    /// Whether the figure depends on the machine.
    let isByClock: Bool

    /// The relative change in percent.
    var percent: Double { old.median == 0 ? 0 : (new.median / old.median - 1) * 100 }

    /// The order in the table: losses first, what depends on the machine last.
    fileprivate var rank: Int { (isByClock ? 2 : 0) + (isLoss ? 0 : 1) }

    fileprivate var verdict: String {
      let word =
        switch (movement, isLoss) {
        case (.moved, true): isByClock ? "worse" : "WORSE"
        case (.moved, false): "better"
        case (.uncertain, true): "worse?"
        case (.uncertain, false): "better?"
        case (.noise, _): "same"
        }
      return isByClock ? word + " (clock)" : word
    }
  }

  /// Every figure of both reports, whether it moved or not.
  private(set) var rows: [Row] = []
  /// Differences that make the comparison say less.
  private(set) var remarks: [String] = []
  private let old: Report
  private let new: Report

  init(from old: Report, to new: Report) {
    self.old = old
    self.new = new
    remarks = Self.remarks(old, new)
    for workload in new.workloads {
      guard let before = old.workloads.first(where: { $0.id == workload.id }) else {
        remarks.append("\(workload.id) is new.")
        continue
      }
      compare(before, workload)
    }
    for workload in old.workloads where !new.workloads.contains(where: { $0.id == workload.id }) {
      remarks.append("\(workload.id) is only in the old report.")
    }
  }

  /// The losses beyond noise of ModelStore and its command line.
  var losses: [Row] {
    rows.filter {
      $0.movement == .moved && $0.isLoss && !$0.isByClock && $0.library == .modelStore
    }
  }

  private static func remarks(_ old: Report, _ new: Report) -> [String] {
    var remarks: [String] = []
    func compare(_ name: String, _ left: String, _ right: String) {
      if left != right { remarks.append("\(name): \(left) before, \(right) now.") }
    }
    compare("SQLite", old.sqliteVersion, new.sqliteVersion)
    compare("GRDB", old.grdbVersion, new.grdbVersion)
    compare("Scale", "\(old.scale)", "\(new.scale)")
    compare("Runs", "\(old.runs)", "\(new.runs)")
    if min(old.runs, new.runs) < Movement.runCountMin {
      remarks.append("With fewer than three runs nothing is certain, so nothing is a loss.")
    }
    if let before = old.syncCost, let now = new.syncCost, max(before, now) > 1.5 * min(before, now)
    {
      remarks.append(
        "A sync costs \(Int(now / 1000)) µs instead of \(Int(before / 1000)): rows under FULL differ."
      )
    }
    return remarks
  }

  private mutating func compare(_ before: WorkloadResult, _ after: WorkloadResult) {
    guard before.title == after.title else {
      remarks.append("\(after.id) did other work before: \(before.title).")
      return
    }
    let yardstick = Self.yardstick(before, after)
    for contender in after.contenders {
      guard let earlier = before.contenders.first(where: { $0.name == contender.name }) else {
        remarks.append("\(after.id): \(contender.name) is new.")
        continue
      }
      func add(
        _ measure: String, _ old: Spread, _ new: Spread, isRate: Bool = false,
        isByClock: Bool = false
      ) {
        rows.append(
          Row(
            workload: after.id, contender: contender.name, library: contender.library,
            measure: measure, old: old, new: new,
            movement: Movement(from: old, to: new, runs: min(self.old.runs, self.new.runs)),
            isLoss: (new.median > old.median) != isRate, isByClock: isByClock))
      }
      if let yardstick, yardstick.name != contender.name {
        add(
          "× \(yardstick.name)", Spread(earlier.ratios(to: yardstick.before)),
          Spread(contender.ratios(to: yardstick.after)))
      } else {
        add(
          "µs", Spread(earlier.runs.map { $0 / 1000 }), Spread(contender.runs.map { $0 / 1000 }),
          isByClock: true)
      }
      for figure in contender.figures {
        guard let was = earlier.figures.first(where: { $0.name == figure.name }) else { continue }
        add(
          figure.name, was.spread, figure.spread, isRate: figure.isRate,
          isByClock: figure.isByClock)
      }
    }
  }

  /// The contender by which a workload's times are divided, in both reports.
  private static func yardstick(
    _ before: WorkloadResult, _ after: WorkloadResult
  ) -> (name: String, before: ContenderResult, after: ContenderResult)? {
    let common = before.contenders.compactMap { earlier in
      after.contenders.first { $0.name == earlier.name }.map { (earlier, $0) }
    }
    for library in [Contender.Library.sqlite, .grdb, .sqliteUtils] {
      let fastest = common.filter { $0.0.library == library }.min { $0.0.median < $1.0.median }
      if let fastest { return (fastest.0.name, fastest.0, fastest.1) }
    }
    return common.first.map { ($0.0.name, $0.0, $0.1) }
  }

  /// What moved, as lines of text; the largest losses first.
  var table: String {
    let moved = rows.filter { $0.movement != .noise }
      .sorted { ($0.rank, -abs($0.percent)) < ($1.rank, -abs($1.percent)) }
    let cells = moved.map { row in
      [
        row.verdict, row.workload, row.contender, row.measure, row.old.text, row.new.text,
        (row.percent < 0 ? "" : "+") + "\(Int(row.percent.rounded())) %",
      ]
    }
    let header = ["", "workload", "contender", "figure", "before", "now", "change"]
    let widths = header.indices.map { column in
      ([header] + cells).map { $0[column].count }.max() ?? 0
    }
    let lines = (moved.isEmpty ? [] : [header] + cells).map { line in
      zip(line, widths).map { $0.padded(to: $1) }.joined(separator: "  ")
    }
    let same = rows.count - moved.count
    return ([summary(same: same)] + remarks.map { "Note: \($0)" } + lines).joined(separator: "\n")
  }

  private func summary(same: Int) -> String {
    "Compared with the old report: \(losses.count) of ModelStore's figures are worse beyond noise; "
      + "\(same) of all \(rows.count) figures are the same within it. A question mark means that "
      + "some runs overlap, and (clock) that the machine counts too."
  }
}

extension ContenderResult {
  /// This contender's runs, each divided by the yardstick's run of the same round.
  fileprivate func ratios(to yardstick: ContenderResult) -> [Double] {
    zip(runs, yardstick.runs).map(/)
  }
}

extension FigureResult {
  fileprivate var spread: Spread { Spread(median: median, min: min, max: max) }
  /// Whether more is better.
  fileprivate var isRate: Bool { name.contains("/s") || name.hasPrefix("records of one commit") }
  /// Whether it is a time or a rate. The others are counts and bytes.
  fileprivate var isByClock: Bool {
    name.contains("/s") || name.contains("µs") || name.hasSuffix(" in ms")
  }
}
