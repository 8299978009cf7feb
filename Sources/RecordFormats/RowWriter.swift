/// Writes the rows of one result, one after the other, in one format.
///
/// A row has as many values as the result has columns, in their order. Rows are not kept, except
/// the first few that ``Table`` measures.
package protocol RowWriter {
  /// Writes one row.
  mutating func write(_ row: [CellValue]) throws(OutputError)

  /// Writes the end of the result and flushes. Call it once, after the last row.
  mutating func finish() throws(OutputError)

  /// How many cells were cut so far. A command reports it if any cell was cut.
  var cutCellCount: Int { get }
}

extension RowWriter {
  /// Most formats write every cell in full.
  package var cutCellCount: Int { 0 }
}
