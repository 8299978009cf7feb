internal import CSQLite

/// A bounded cache of prepared statements, by their SQL text. It evicts the least recently used
/// statement first.
///
/// A statement in use is not in the cache. If the same text runs during its own execution, a second
/// statement is prepared.
final class StatementCache {
  private struct Entry {
    var handle: OpaquePointer
    var lastUse: UInt64
  }

  private var idle: [ExactText: Entry] = [:]
  /// The statement that was returned last. A loop that runs one statement needs no search.
  private var latest: (sql: String, handle: OpaquePointer)?
  /// The statements returned before it, oldest first. Similar transactions need no hashing.
  private var recent: [(sql: String, handle: OpaquePointer)] = []
  private var clock: UInt64 = 0
  private let capacity: Int
  /// The number of compiled statements so far, for tests and benchmarks.
  private(set) var preparedCount = 0
  /// The number of statements taken so far, compiled or cached.
  private(set) var takenCount = 0
  /// The number of cached statements.
  var idleCount: Int { idle.count + recent.count + (latest == nil ? 0 : 1) }

  /// A one-row transaction runs six statements, including BEGIN and COMMIT.
  private var recentCountMax: Int { min(capacity - 1, 7) }

  /// - Parameter capacity: The most cached statements, at least 1.
  init(capacity: Int) {
    precondition(capacity >= 1, "A statement cache keeps at least one statement.")
    self.capacity = capacity
  }

  deinit {
    removeAll()
  }

  /// Takes an idle statement for `sql` out of the cache, or prepares one.
  func take(_ sql: String, on database: OpaquePointer) throws(SQLiteError) -> Statement {
    takenCount &+= 1
    if let found = latest, found.sql.isExactly(sql) {
      latest = nil
      return Statement(adopting: found.handle)
    }
    if let place = recent.firstIndex(where: { $0.sql.isExactly(sql) }) {
      return Statement(adopting: recent.remove(at: place).handle)
    }
    if let index = idle.index(forKey: ExactText(sql)) {
      let entry = idle.remove(at: index).value
      return Statement(adopting: entry.handle)
    }
    preparedCount += 1
    return try Statement(sql, on: database, persistent: true)
  }

  /// Returns a statement to the cache, reset and without arguments.
  func put(_ statement: consuming Statement, for sql: String) {
    statement.reset()
    let handle = statement.release()
    sqlite3_clear_bindings(handle)
    if let displaced = latest { keepRecent(displaced.handle, for: displaced.sql) }
    latest = (sql, handle)
  }

  private func keepRecent(_ handle: OpaquePointer, for sql: String) {
    // The same text ran during its own execution. One statement for it is enough.
    if let place = recent.firstIndex(where: { $0.sql.isExactly(sql) }) {
      sqlite3_finalize(recent.remove(at: place).handle)
    }
    recent.append((sql, handle))
    if recent.count > recentCountMax {
      let displaced = recent.removeFirst()
      keep(displaced.handle, for: displaced.sql)
    }
  }

  private func keep(_ handle: OpaquePointer, for sql: String) {
    clock += 1
    let entry = Entry(handle: handle, lastUse: clock)
    if let displaced = idle.updateValue(entry, forKey: ExactText(sql)) {
      sqlite3_finalize(displaced.handle)
    }
    if idle.count > capacity - 1 - recentCountMax,
      let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      sqlite3_finalize(oldest.value.handle)
      idle[oldest.key] = nil
    }
  }

  func removeAll() {
    for statement in recent { sqlite3_finalize(statement.handle) }
    recent = []
    if let latest { sqlite3_finalize(latest.handle) }
    latest = nil
    for entry in idle.values { sqlite3_finalize(entry.handle) }
    idle.removeAll()
  }
}
