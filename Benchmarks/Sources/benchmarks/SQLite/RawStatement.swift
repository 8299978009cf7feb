internal import RawSQLite

/// One prepared statement, finalized with its owner.
final class RawStatement {
  let handle: OpaquePointer

  init(handle: OpaquePointer) {
    self.handle = handle
  }

  deinit {
    sqlite3_finalize(handle)
  }

  /// Binds `text` without copying it and runs `body` while the bytes are valid.
  @inline(__always)
  func lend<Failure: Error>(
    _ text: String, at index: Int32, to body: () throws(Failure) -> Void
  ) throws(Failure) {
    var text = text
    let result = text.withUTF8 { bytes -> Result<Void, Failure> in
      _ = bytes.withMemoryRebound(to: CChar.self) { characters in
        // A nil destructor is SQLITE_STATIC: SQLite reads the caller's bytes in place.
        sqlite3_bind_text(handle, index, characters.baseAddress, Int32(characters.count), nil)
      }
      do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
    }
    try result.get()
  }

  @inline(__always)
  func integer(_ column: Int32) -> Int64 {
    sqlite3_column_int64(handle, column)
  }

  @inline(__always)
  func real(_ column: Int32) -> Double {
    sqlite3_column_double(handle, column)
  }

  @inline(__always)
  func text(_ column: Int32) -> String {
    // Get the pointer before the length: https://sqlite.org/c3ref/column_blob.html
    let start = sqlite3_column_text(handle, column)
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// The current row of one of the SELECTs in ``Track``.
  @inline(__always)
  var track: Track {
    Track(id: integer(0), title: text(1), milliseconds: integer(2), rating: real(3))
  }

  /// The current row of ``TenIntegers/selectAll``.
  @inline(__always)
  var tenIntegers: TenIntegers {
    TenIntegers(
      i0: integer(0), i1: integer(1), i2: integer(2), i3: integer(3), i4: integer(4),
      i5: integer(5), i6: integer(6), i7: integer(7), i8: integer(8), i9: integer(9))
  }

  /// Steps through all rows, resets, and returns the results of `decode`.
  @inline(__always)
  func all<Row>(_ connection: RawConnection, _ decode: (RawStatement) -> Row) throws -> [Row] {
    var rows: [Row] = []
    var code = sqlite3_step(handle)
    while code == SQLITE_ROW {
      rows.append(decode(self))
      code = sqlite3_step(handle)
    }
    guard code == SQLITE_DONE else { throw connection.failure(code) }
    sqlite3_reset(handle)
    return rows
  }
}
