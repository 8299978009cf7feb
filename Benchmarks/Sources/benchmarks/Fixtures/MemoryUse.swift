internal import RawSQLite

/// How many bytes something takes for as long as it is kept.
enum MemoryUse {
  /// The bytes that malloc has given out and not taken back, of the whole process.
  static var now: Int { Int(bytes_in_use()) }

  /// What `make` made, and by how many bytes more are in use since.
  static func of<Value>(_ make: () throws -> Value) rethrows -> (value: Value, bytes: Int) {
    let before = now
    let value = try make()
    return (value, now - before)
  }
}
