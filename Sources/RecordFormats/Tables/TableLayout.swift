/// How wide each column of a table is. Pure arithmetic on cell widths.
struct TableLayout: Hashable, Sendable {
  /// What a column would like.
  struct Demand: Hashable, Sendable {
    /// Cells of its widest content, heading included.
    var width: Int
    /// Whether it may be cut; keys may not.
    var isCuttable: Bool
  }

  /// Cells between two columns.
  static let gap = 2
  /// A column is not cut below this; a table that would need it is shown as records instead.
  static let cutWidthMin = 8

  /// One width per column.
  let widths: [Int]

  /// Divides `available` cells, nil for no limit.
  ///
  /// Columns that fit keep their width; the wide ones share what is left evenly. Nil when even
  /// that leaves a column too narrow to be read.
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
    // From the narrowest up, each takes what it wants or its even share of what is left.
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
