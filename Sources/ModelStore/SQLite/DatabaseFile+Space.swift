internal import CSQLite

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

// The space that a database takes and has. Nothing is opened: closing a descriptor would drop
// SQLite's locks.
extension DatabaseFile {
  /// The size of the write-ahead log in bytes; 0 if there is none.
  func logByteCount() throws -> Int64 {
    guard !isInMemory, let status = try Self.status(of: path + "-wal") else { return 0 }
    return Int64(status.st_size)
  }

  /// The bytes that this user may still allocate on the file's disk; nil if unknown, and for a
  /// database in memory.
  var freeByteCount: Int64? {
    guard !isInMemory else { return nil }
    let count = csqlite_free_byte_count(path)
    return count < 0 ? nil : count
  }
}
