/// The widths of a table's columns, computed from the widths of its cells.
struct TableLayout: Hashable, Sendable {
  /// The width that a column needs.
  struct Demand: Hashable, Sendable {
    /// The number of terminal cells of its widest content, heading included.
    var width: Int
    /// Whether its contents may be cut. Keys may not be cut.
    var isCuttable: Bool
  }

  /// The number of cells between two columns.
  static let gap = 2
  /// The smallest width of a cut column. If a column would have to be narrower, the table is shown
  /// as records instead.
  static let cutWidthMin = 8

  /// One width per column.
  let widths: [Int]

  /// Divides `available` cells, nil for no limit.
  ///
  /// Columns that fit keep their width. The wide ones share the remaining cells evenly. Nil when a
  /// column would still be too narrow to be read.
  init?(_ demands: [Demand], available: Int?) {
    let gaps = Self.gap * max(0, demands.count - 1)
    let wanted = demands.reduce(gaps) { $0 + $1.width }
    guard let available, wanted > available else {
      widths = demands.map(\.width)
      return
    }
    let fixed = demands.filter { !$0.isCuttable }.reduce(gaps) { $0 + $1.width }
    var remaining = available - fixed
    let least = demands.filter(\.isCuttable).reduce(0) { $0 + min($1.width, Self.cutWidthMin) }
    guard least <= remaining else { return nil }

    var widths = demands.map(\.width)
    // From the narrowest up, each column gets the width it needs or its even share of the remaining
    // cells.
    let cuttable = demands.indices.filter { demands[$0].isCuttable }
      .sorted { (demands[$0].width, $0) < (demands[$1].width, $1) }
    for (place, index) in cuttable.enumerated() {
      let share = remaining / (cuttable.count - place)
      widths[index] = min(demands[index].width, share)
      remaining -= widths[index]
    }
    self.widths = widths
  }
}
