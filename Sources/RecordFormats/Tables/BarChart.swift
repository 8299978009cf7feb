/// A bar for each row, for a person at a terminal: a label, a number and a bar as long as the
/// number is large. A row is a label and a number.
///
/// The longest bar ends at the right edge. Bars of negative numbers grow to the left of a common
/// zero. All rows are kept until the end, because the largest number decides the scale.
package struct BarChart: RowWriter {
  /// The characters of bars.
  package enum Style: Hashable, Sendable {
    /// Blocks, exact to an eighth of a cell.
    case blocks
    /// `#` alone, for terminals without Unicode.
    case ascii
  }

  private struct Bar {
    var label: String
    var number: String
    /// Nil for null, which has no bar.
    var length: Double?
  }

  /// The narrowest bars that still show a difference.
  private static let barWidthMin = 8

  private let label: OutputColumn
  private let value: OutputColumn
  private let style: Style
  private let sink: ByteSink
  private let terminal: Terminal
  private var bars: [Bar] = []

  package private(set) var cutCellCount = 0

  /// - Parameters:
  ///   - label: The column of the labels.
  ///   - value: The column of the numbers.
  package init(
    label: OutputColumn, value: OutputColumn, style: Style, sink: ByteSink, terminal: Terminal
  ) {
    self.label = label
    self.value = value
    self.style = style
    self.sink = sink
    self.terminal = terminal
  }

  package mutating func write(_ row: [CellValue]) throws(OutputError) {
    let length: Double? =
      switch row[1] {
      case .integer(let number): Double(number)
      case .real(let number): number
      case .text(let text): Double(text)
      case .null, .blob: nil
      }
    bars.append(
      Bar(
        label: shown(row[0], in: label), number: shown(row[1], in: value),
        length: length.flatMap { $0.isNaN ? nil : $0 }))
  }

  private func shown(_ cell: CellValue, in column: OutputColumn) -> String {
    let text = CellText.display(cell, as: column.meaning)
    guard style == .ascii else { return text }
    return String(text.map { $0.isASCII ? $0 : "?" })
  }

  package mutating func finish() throws(OutputError) {
    let width = max(terminal.width ?? 80, 20)
    let numberWidth = bars.map { DisplayWidth.of($0.number) }.max() ?? 0
    let labelRoom = max(width - numberWidth - Self.barWidthMin - 4, 4)
    let labelWidth = min(bars.map { DisplayWidth.of($0.label) }.max() ?? 0, labelRoom)
    let scale = Scale(
      bars.compactMap(\.length), width: max(width - labelWidth - numberWidth - 4, 1))
    for bar in bars {
      let text = cut(bar.label, to: labelWidth)
      if text != bar.label { cutCellCount += 1 }
      let labelGap = String(repeating: " ", count: labelWidth - DisplayWidth.of(text) + 2)
      let numberGap = String(repeating: " ", count: numberWidth - DisplayWidth.of(bar.number))
      var line = terminal.palette.dressed(text, as: .identifier) + labelGap
      line += numberGap + bar.number
      let drawing = bar.length.map { scale.drawing(of: $0, style) } ?? ""
      if !drawing.isEmpty { line += "  " + drawing }
      try sink.append(line + "\n")
    }
    try sink.flush()
  }

  private func cut(_ text: String, to width: Int) -> String {
    switch style {
    case .blocks: DisplayWidth.truncated(text, to: width)
    // Every character takes one cell.
    case .ascii: text.count > width ? text.prefix(max(width - 3, 0)) + "..." : text
    }
  }
}

/// How many cells a number takes, and where zero is.
private struct Scale {
  /// Cells on either side of zero.
  private let left: Int
  private let right: Int
  /// The largest number on either side together with its width decides.
  private let cellsPerUnit: Double

  init(_ numbers: [Double], width: Int) {
    let finite = numbers.filter(\.isFinite)
    // Divided first: the sum of two large numbers may be infinite.
    let top = max(finite.max() ?? 0, 0) / 2
    let bottom = max(-(finite.min() ?? 0), 0) / 2
    let range = top + bottom
    left = range > 0 ? Int((Double(width) * (bottom / range)).rounded(.up)) : 0
    right = width - left
    var perUnit = Double.infinity
    if top > 0 { perUnit = min(perUnit, Double(right) / 2 / top) }
    if bottom > 0 { perUnit = min(perUnit, Double(left) / 2 / bottom) }
    cellsPerUnit = perUnit.isFinite ? perUnit : 0
  }

  func drawing(of number: Double, _ style: BarChart.Style) -> String {
    let room = number < 0 ? left : right
    let cells = number.isFinite ? min(abs(number) * cellsPerUnit, Double(room)) : Double(room)
    guard number < 0 else {
      return String(repeating: " ", count: cells > 0 ? left : 0) + Self.bar(cells, style)
    }
    // Blocks fill a cell from its left, so a bar to the left has whole cells only.
    let count = max(Int(cells.rounded()), 1)
    return String(repeating: " ", count: max(left - count, 0))
      + String(repeating: style == .ascii ? "#" : "\u{2588}", count: count)
  }

  /// A bar to the right; a number above zero always has one.
  private static func bar(_ cells: Double, _ style: BarChart.Style) -> String {
    guard cells > 0 else { return "" }
    guard style == .blocks else {
      return String(repeating: "#", count: max(Int(cells.rounded()), 1))
    }
    let eighths = max(Int((cells * 8).rounded()), 1)
    let whole = String(repeating: "\u{2588}", count: eighths / 8)
    return eighths % 8 == 0 ? whole : whole + String(parts[eighths % 8 - 1])
  }

  private static let parts: [Character] = [
    "\u{258F}", "\u{258E}", "\u{258D}", "\u{258C}", "\u{258B}", "\u{258A}", "\u{2589}",
  ]
}
