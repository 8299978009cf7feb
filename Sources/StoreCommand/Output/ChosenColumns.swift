import ModelStore

/// Hands on some columns of each row, in the order chosen.
struct ChosenColumns: RowWriter {
  /// Positions in the rows given.
  let indices: [Int]
  private var writer: any RowWriter

  init(indices: [Int], writer: any RowWriter) {
    self.indices = indices
    self.writer = writer
  }

  mutating func write(_ row: [SQLValue]) throws(OutputError) {
    try writer.write(indices.map { row[$0] })
  }

  mutating func finish() throws(OutputError) {
    try writer.finish()
  }

  var cutCellCount: Int { writer.cutCellCount }
}
