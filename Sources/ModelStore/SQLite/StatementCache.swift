internal import CSQLite

/// Prepared statements kept for reuse, by their SQL text. Bounded; the least recently used goes
/// first.
///
/// A statement in use is not in the cache, so running the same text inside itself prepares a
/// second one instead of disturbing the first.
final class StatementCache {
  private struct Entry {
    var handle: OpaquePointer
    var lastUse: UInt64
  }

  private var idle: [ExactText: Entry] = [:]
  /// The statements put back last, the latest at the end, beside the dictionary: a loop that runs
  /// the same few statements pays no hashing.
  private var latest: [(sql: String, handle: OpaquePointer)] = []
  private var clock: UInt64 = 0
  private let capacity: Int
  /// How many statements were compiled so far: what tests and benchmarks assert on.
  private(set) var preparedCount = 0
  /// How many statements are kept for reuse now.
  var idleCount: Int { idle.count + latest.count }

  /// A one-row transaction runs six statements, its own BEGIN and COMMIT included.
  private var latestCountMax: Int { min(capacity, 8) }

  /// - Parameter capacity: The most idle statements kept, at least 1.
  init(capacity: Int) {
    precondition(capacity >= 1, "A statement cache keeps at least one statement.")
    self.capacity = capacity
  }

  deinit {
    removeAll()
  }

  /// Takes an idle statement for `sql` out of the cache, or prepares one.
  func take(_ sql: String, on database: OpaquePointer) throws(SQLiteError) -> Statement {
    if let place = latest.lastIndex(where: { $0.sql.isExactly(sql) }) {
      return Statement(adopting: latest.remove(at: place).handle)
    }
    if let index = idle.index(forKey: ExactText(sql)) {
      let entry = idle.remove(at: index).value
      return Statement(adopting: entry.handle)
    }
    preparedCount += 1
    return try Statement(sql, on: database, persistent: true)
  }

  /// Puts a statement back, reset and without arguments, ready for the next user.
  func put(_ statement: consuming Statement, for sql: String) {
    statement.reset()
    let handle = statement.release()
    sqlite3_clear_bindings(handle)
    // The same text ran inside itself: one statement for it is enough.
    if let place = latest.firstIndex(where: { $0.sql.isExactly(sql) }) {
      sqlite3_finalize(latest.remove(at: place).handle)
    }
    if latest.count == latestCountMax {
      let displaced = latest.removeFirst()
      keep(displaced.handle, for: displaced.sql)
    }
    latest.append((sql, handle))
  }

  private func keep(_ handle: OpaquePointer, for sql: String) {
    clock += 1
    let entry = Entry(handle: handle, lastUse: clock)
    if let displaced = idle.updateValue(entry, forKey: ExactText(sql)) {
      sqlite3_finalize(displaced.handle)
    }
    if idle.count > capacity - latestCountMax,
      let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      sqlite3_finalize(oldest.value.handle)
      idle[oldest.key] = nil
    }
  }

  func removeAll() {
    for statement in latest { sqlite3_finalize(statement.handle) }
    latest = []
    for entry in idle.values { sqlite3_finalize(entry.handle) }
    idle.removeAll()
  }
}
