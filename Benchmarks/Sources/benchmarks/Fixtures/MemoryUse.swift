internal import RawSQLite

/// The number of bytes that an object takes.
enum MemoryUse {
  /// The bytes that malloc has allocated and not freed, of the whole process.
  static var now: Int { Int(bytes_in_use()) }

  /// Returns the result of `make`, and the number of bytes that it added to the memory in use.
  static func of<Value>(_ make: () throws -> Value) rethrows -> (value: Value, bytes: Int) {
    let before = now
    let value = try make()
    return (value, now - before)
  }
}
