internal import CSQLite

/// What the readers of a statement's rows keep from one row to the next.
final class RowCompanion {
  /// A decoder that is used for the next row.
  var decoder: AnyObject?
  /// Whether it ends with the run of a statement, not with the connection.
  let isOfRun: Bool
  /// The cells of the current row; nil if they are found one by one.
  private var cells: UnsafeRawPointer?
  private var cellCount = 0
  /// The bytes from one cell to the next.
  private var stride = 0

  init(isOfRun: Bool) {
    self.isOfRun = isOfRun
  }

  /// Finds the cells of the current row at once. Reading a cell otherwise takes longer than its
  /// content.
  ///
  /// The cells of a row are consecutive registers of SQLite's virtual machine, which are elements
  /// of one array: <https://sqlite.org/opcode.html#ResultRow>. The size of an element is not public,
  /// so it is measured, and every cell of the statement's first row is compared with its place. If
  /// one is elsewhere, cells are found one by one.
  func beginRows(of statement: OpaquePointer) {
    let count = Int(sqlite3_data_count(statement))
    guard count > 1, let first = sqlite3_column_value(statement, 0),
      let second = sqlite3_column_value(statement, 1)
    else { return }
    let start = UnsafeRawPointer(first)
    let distance = UnsafeRawPointer(second) - start
    guard distance > 0 else { return }
    for column in 2..<max(count, 2) {
      guard let cell = sqlite3_column_value(statement, Int32(column)),
        UnsafeRawPointer(cell) - start == column * distance
      else { return }
    }
    (cells, cellCount, stride) = (start, count, distance)
  }

  /// Goes to the next row of the statement.
  @inline(__always)
  func nextRow(of statement: OpaquePointer) {
    if cells != nil { cells = UnsafeRawPointer(sqlite3_column_value(statement, 0)) }
  }

  /// Ends the run. No row of it is read any more.
  func endRows() {
    cells = nil
    decoder = nil
  }

  @inline(__always)
  func cell(at column: Int) -> OpaquePointer? {
    guard let cells, column >= 0, column < cellCount else { return nil }
    return OpaquePointer(cells + column &* stride)
  }
}
