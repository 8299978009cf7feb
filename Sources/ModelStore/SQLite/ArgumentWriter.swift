internal import CSQLite

/// Writes the arguments of one statement, numbered from 0.
///
/// ``ColumnValue`` and ``Model`` borrow it while they encode, and it cannot outlive the statement.
/// It stores a failure (out of memory, or a value over SQLite's length limit), and the statement
/// throws it.
public struct ArgumentWriter: ~Copyable {
  private let statement: OpaquePointer
  /// The number of the parameter before the first of the current row.
  private var base: Int32 = 0
  private var rowWidth: Int32 = 0
  /// The field whose values ``rowNumbers`` collects.
  private var numberedField = -1
  private(set) var rowNumbers = RowNumbers()
  /// Free bytes that outlive the arguments. Texts are copied to them, so that SQLite takes no copy
  /// of its own.
  private var room = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// The bytes of texts and blobs of which SQLite took copies.
  private(set) var copiedByteCount = 0
  /// The first result code that is an error.
  private(set) var failure: Int32 = SQLITE_OK
  /// The parameter that could not be bound, counted from 0.
  private(set) var failedIndex: Int?

  /// The values of one field in several rows.
  struct RowNumbers {
    /// The integers, in the order of rows.
    fileprivate(set) var integers: [Int64] = []
    /// Whether a value was neither an integer nor NULL, or only some rows have integers.
    fileprivate(set) var hasOther = false
    private var rowCount = 0

    fileprivate mutating func endRow() {
      rowCount += 1
      if !integers.isEmpty, integers.count != rowCount { hasOther = true }
    }

    fileprivate mutating func takeNull() {
      if integers.count > rowCount { hasOther = true }
    }
  }

  /// Creates a writer for the parameters of one row.
  ///
  /// - Parameter room: The place for texts. It is in use until the statement has no arguments.
  init(statement: OpaquePointer, room: ArgumentRoom? = nil) {
    self.statement = statement
    if let room { self.room = room.bytes }
  }

  /// Creates a writer for a statement with several rows of parameters.
  ///
  /// - Parameters:
  ///   - rowWidth: The number of parameters of a row.
  ///   - numberedField: The field whose values ``rowNumbers`` collects.
  ///   - room: The place for texts. It is in use until the statement has no arguments.
  init(statement: OpaquePointer, rowWidth: Int, numberedField: Int?, room: ArgumentRoom) {
    self.init(statement: statement, room: room)
    self.rowWidth = Int32(rowWidth)
    self.numberedField = numberedField ?? -1
  }

  /// Moves to the parameters of the next row.
  mutating func endRow() {
    base += rowWidth
    rowNumbers.endRow()
  }

  /// Another writer to the same statement, for an object that cannot borrow. The caller takes over
  /// its failure, and makes sure that the object does not use it after the statement.
  func shared() -> ArgumentWriter {
    var writer = ArgumentWriter(statement: statement)
    writer.base = base
    writer.rowWidth = rowWidth
    writer.numberedField = numberedField
    return writer
  }

  /// Keeps the failure of `other` unless there was one before, and its row numbers.
  mutating func takeFailure(of other: borrowing ArgumentWriter) {
    copiedByteCount += other.copiedByteCount
    rowNumbers.integers += other.rowNumbers.integers
    rowNumbers.hasOther = rowNumbers.hasOther || other.rowNumbers.hasOther
    guard failure == SQLITE_OK else { return }
    failure = other.failure
    failedIndex = other.failedIndex
  }

  /// Binds NULL to the parameter at `index`, counted from 0.
  public mutating func setNull(at index: Int) {
    if index == numberedField { rowNumbers.takeNull() }
    note(sqlite3_bind_null(statement, parameter(index)), at: index)
  }

  /// Binds an integer to the parameter at `index`, counted from 0.
  public mutating func set(_ value: Int64, at index: Int) {
    if index == numberedField { rowNumbers.integers.append(value) }
    note(sqlite3_bind_int64(statement, parameter(index), value), at: index)
  }

  /// Binds a number. NaN makes the statement fail: SQLite would store NULL.
  public mutating func set(_ value: Double, at index: Int) {
    if index == numberedField { rowNumbers.hasOther = true }
    note(
      value.isNaN
        ? ResultCode.unstorable.rawValue
        : sqlite3_bind_double(statement, parameter(index), value), at: index)
  }

  /// Binds text by length, which preserves embedded NUL characters.
  public mutating func set(_ value: String, at index: Int) {
    if index == numberedField { rowNumbers.hasOther = true }
    var value = value
    let parameter = parameter(index)
    note(value.withUTF8 { bytes in bind(bytes, to: parameter) }, at: index)
  }

  private mutating func bind(_ text: UnsafeBufferPointer<UInt8>, to parameter: Int32) -> Int32 {
    guard text.count > 0, let base = text.baseAddress else {
      return sqlite3_bind_text(statement, parameter, "", 0, csqlite_transient())
    }
    guard text.count <= room.count, let free = room.baseAddress else {
      copiedByteCount += text.count
      return base.withMemoryRebound(to: CChar.self, capacity: text.count) { characters in
        sqlite3_bind_text64(
          statement, parameter, characters, UInt64(text.count), csqlite_transient(),
          UInt8(SQLITE_UTF8))
      }
    }
    free.copyMemory(from: base, byteCount: text.count)
    room = UnsafeMutableRawBufferPointer(rebasing: room[text.count...])
    // Without a destructor, SQLite reads the bytes in place.
    return sqlite3_bind_text64(
      statement, parameter, free.assumingMemoryBound(to: CChar.self), UInt64(text.count), nil,
      UInt8(SQLITE_UTF8))
  }

  /// Binds a blob to the parameter at `index`, counted from 0; SQLite takes a copy.
  public mutating func set(_ value: [UInt8], at index: Int) {
    if index == numberedField { rowNumbers.hasOther = true }
    let parameter = parameter(index)
    copiedByteCount += value.count
    note(
      value.withUnsafeBytes { bytes in
        // A NULL pointer would bind NULL instead of an empty blob.
        guard let base = bytes.baseAddress, !bytes.isEmpty else {
          return sqlite3_bind_zeroblob(statement, parameter, 0)
        }
        return sqlite3_bind_blob64(
          statement, parameter, base, UInt64(bytes.count), csqlite_transient())
      }, at: index)
  }

  /// Binds a value of any storage class to the parameter at `index`, counted from 0.
  public mutating func set(_ value: SQLValue, at index: Int) {
    switch value {
    case .null: setNull(at: index)
    case .integer(let value): set(value, at: index)
    case .real(let value): set(value, at: index)
    case .text(let value): set(value, at: index)
    case .blob(let value): set(value, at: index)
    }
  }

  /// The number of the parameter; 0, which SQLite refuses, for one of another row.
  private func parameter(_ index: Int) -> Int32 {
    guard rowWidth == 0 || (0..<Int(rowWidth)).contains(index) else { return 0 }
    return base + Int32(index) + 1
  }

  private mutating func note(_ code: Int32, at index: Int) {
    guard code != SQLITE_OK, failure == SQLITE_OK else { return }
    failure = code
    failedIndex = index
  }
}

/// Bytes for the texts of one statement's arguments. If they do not suffice, SQLite takes copies.
final class ArgumentRoom {
  fileprivate let bytes = UnsafeMutableRawBufferPointer.allocate(
    byteCount: 64 * 1024, alignment: 16)

  deinit { bytes.deallocate() }
}
