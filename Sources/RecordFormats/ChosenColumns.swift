/// Passes on some columns of each row, in the chosen order.
package struct ChosenColumns: RowWriter {
  /// Positions in the given rows.
  package let indices: [Int]
  private var writer: any RowWriter

  package init(indices: [Int], writer: any RowWriter) {
    self.indices = indices
    self.writer = writer
  }

  package mutating func write(_ row: [CellValue]) throws(OutputError) {
    try writer.write(indices.map { row[$0] })
  }

  package mutating func finish() throws(OutputError) {
    try writer.finish()
  }

  package var cutCellCount: Int { writer.cutCellCount }
}
