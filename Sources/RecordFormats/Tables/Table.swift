/// Writes rows as aligned columns for a person: keys first, numbers to the right, cut cells ending
/// in `…`.
///
/// It measures the first rows and uses their layout for the rest, so any number of rows can be
/// streamed. If the terminal is too narrow for the columns, it shows one ``RecordSheet`` per row.
/// Without rows there is no output.
package struct Table: RowWriter {
  /// The number of rows that are measured before the first row is written.
  static let measuredRowCount = 256

  /// How many scalars of a text are measured for each cell of a terminal line. The limit only
  /// matters for a text whose scalars take almost no room.
  private static let scalarsPerCell = 16

  private struct Cell {
    var text: String
    /// Whether the text is shorter than the value.
    var isCut: Bool
    var width: Int
    var value: CellValue
  }

  private enum Shape {
    case measuring([[CellValue]])
    case columns([ColumnShape])
    case sheets
  }

  private struct ColumnShape {
    var width: Int
    var isNumeric: Bool
  }

  private let columns: [OutputColumn]
  /// Positions in a row, with keys first.
  private let order: [Int]
  private let sink: ByteSink
  private let terminal: Terminal
  private let recordName: String?
  private var shape = Shape.measuring([])

  package private(set) var cutCellCount = 0

  package init(
    columns: [OutputColumn], sink: ByteSink, terminal: Terminal, recordName: String? = nil
  ) {
    self.columns = columns
    self.sink = sink
    self.terminal = terminal
    self.recordName = recordName
    let keys = columns.indices.filter { columns[$0].role == .key }
    order = keys + columns.indices.filter { columns[$0].role != .key }
  }

  package mutating func write(_ row: [CellValue]) throws(OutputError) {
    switch shape {
    case .measuring(var rows):
      // Released first, because appending would otherwise copy every row kept so far.
      shape = .sheets
      rows.append(row)
      let isFull = rows.count == Self.measuredRowCount
      shape = .measuring(rows)
      if isFull { try settle(rows) }
    case .columns(let shapes): try writeLine(cells(of: row), shapes)
    case .sheets: try writeSheet(row)
    }
  }

  package mutating func finish() throws(OutputError) {
    if case .measuring(let rows) = shape, !rows.isEmpty { try settle(rows) }
    try sink.flush()
  }

  private mutating func settle(_ rows: [[CellValue]]) throws(OutputError) {
    let lines = rows.map { cells(of: $0) }
    let headings = order.map { CellText.visible(columns[$0].name.uppercased()) }
    var demands: [TableLayout.Demand] = []
    for (place, heading) in headings.enumerated() {
      let widest = lines.reduce(DisplayWidth.of(heading)) { max($0, $1[place].width) }
      demands.append(
        TableLayout.Demand(width: widest, isCuttable: columns[order[place]].role == .field))
    }
    guard let layout = TableLayout(demands, available: terminal.width) else {
      shape = .sheets
      for row in rows { try writeSheet(row) }
      return
    }
    let shapes = layout.widths.enumerated().map { place, width in
      let isNumeric =
        columns[order[place]].meaning == .stored
        && Self.isNumeric(lines.lazy.map { $0[place].value })
      return ColumnShape(width: width, isNumeric: isNumeric)
    }
    shape = .columns(shapes)
    try writeHeadings(headings, shapes)
    for line in lines { try writeLine(line, shapes) }
  }

  /// Returns whether a column contains only numbers and null.
  private static func isNumeric(_ values: some Sequence<CellValue>) -> Bool {
    var hasNumber = false
    for value in values {
      switch value {
      case .integer, .real: hasNumber = true
      case .null: break
      case .text, .blob: return false
      }
    }
    return hasNumber
  }

  private func cells(of row: [CellValue]) -> [Cell] {
    order.map { index in
      let (text, isCut) = shown(row[index], in: columns[index])
      return Cell(
        text: text, isCut: isCut, width: DisplayWidth.of(text), value: row[index])
    }
  }

  /// Returns the text that a cell can show of a value. Measuring a text of many megabytes is slow,
  /// so a text that will be cut anyway is first shortened to a multiple of the terminal's width.
  private func shown(_ value: CellValue, in column: OutputColumn) -> (text: String, isCut: Bool) {
    guard let width = terminal.width, column.role == .field else {
      return (CellText.display(value, as: column.meaning), false)
    }
    return CellText.display(
      value, as: column.meaning, scalarCountMax: Self.scalarsPerCell * max(1, width))
  }

  private func writeHeadings(
    _ headings: [String], _ shapes: [ColumnShape]
  ) throws(OutputError) {
    let line = zip(headings, shapes).map { heading, shape in
      let cut = DisplayWidth.truncated(heading, to: shape.width)
      return padded(
        terminal.palette.dressed(cut, as: .heading), width: DisplayWidth.of(cut), shape)
    }
    try sink.append(Self.joined(line))
  }

  private mutating func writeLine(
    _ cells: [Cell], _ shapes: [ColumnShape]
  ) throws(OutputError) {
    var line: [String] = []
    for (place, cell) in cells.enumerated() {
      let shape = shapes[place]
      let column = columns[order[place]]
      var text = cell.text
      var width = cell.width
      let isTooWide = width > shape.width && terminal.width != nil && column.role == .field
      if isTooWide {
        text = DisplayWidth.truncated(text, to: shape.width)
        width = DisplayWidth.of(text)
      }
      if isTooWide || cell.isCut { cutCellCount += 1 }
      line.append(padded(dressed(text, cell.value, column), width: width, shape))
    }
    try sink.append(Self.joined(line))
  }

  private func dressed(_ text: String, _ value: CellValue, _ column: OutputColumn) -> String {
    switch (value, column.role) {
    case (.null, _): terminal.palette.dressed(text, as: .hint)
    case (_, .key): terminal.palette.dressed(text, as: .identifier)
    case (_, .field), (_, .whole): text
    }
  }

  private func padded(_ text: String, width: Int, _ shape: ColumnShape) -> String {
    let padding = String(repeating: " ", count: max(0, shape.width - width))
    return shape.isNumeric ? padding + text : text + padding
  }

  private static func joined(_ cells: [String]) -> String {
    var line = cells.joined(separator: String(repeating: " ", count: TableLayout.gap))
    while line.last == " " { line.removeLast() }
    return line + "\n"
  }

  private func writeSheet(_ row: [CellValue]) throws(OutputError) {
    let keys = order.filter { columns[$0].role == .key }
    let identity = keys.map { CellText.display(row[$0]) }.joined(separator: ",")
    let title = [recordName ?? "", identity].filter { !$0.isEmpty }.joined(separator: " ")
    let fields = order.filter { columns[$0].role != .key || keys.isEmpty }
      .map { RecordSheet.Field(columns[$0], row[$0]) }
    let sheet = RecordSheet(title: title.isEmpty ? "record" : title, fields: fields)
    try sink.append(sheet.text(palette: terminal.palette))
  }
}
