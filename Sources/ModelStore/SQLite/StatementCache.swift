internal import CSQLite

/// A bounded cache of prepared statements, by their SQL text. It evicts the least recently used
/// statement first.
///
/// A statement in use is not in the cache. If the same text runs during its own execution, a second
/// statement is prepared.
///
/// Its owner must call ``removeAll()`` at the end.
struct StatementCache {
  private struct Entry {
    var handle: OpaquePointer
    var lastUse: UInt64
  }

  /// A place of a recently used statement. The statement keeps it while it is lent.
  private struct Place {
    let sql: String
    let identity: Identity
    let handle: OpaquePointer
    var isLent = false
    var lastUse: UInt64

    init(_ sql: String, _ handle: OpaquePointer, lastUse: UInt64) {
      self.sql = sql
      identity = Identity(sql)
      self.handle = handle
      self.lastUse = lastUse
    }
  }

  /// What a text is in memory: its length and where its bytes are, or the bytes themselves if they
  /// are few. Two texts with one identity are equal as long as one of them is kept. Equal texts may
  /// have two.
  ///
  /// It takes a few instructions, a comparison of texts about 60.
  private struct Identity: Equatable {
    private let words: (UInt64, UInt64)

    @inline(__always)
    init(_ text: String) {
      guard Self.isKnown else {
        words = (0, 0)
        return
      }
      words = withUnsafeBytes(of: text) { bytes in
        (bytes.load(as: UInt64.self), bytes.load(fromByteOffset: 8, as: UInt64.self))
      }
    }

    @inline(__always)
    static func == (left: Identity, right: Identity) -> Bool {
      isKnown && left.words == right.words
    }

    /// A text has another form where addresses have 32 bits. The compiler knows the answer.
    @inline(__always)
    private static var isKnown: Bool {
      MemoryLayout<String>.size == MemoryLayout<(UInt64, UInt64)>.size
    }
  }

  /// A statement without arguments and rows that begins or ends a transaction.
  enum Fixed: Int, CaseIterable {
    case begin, commit, beginShare, releaseShare

    var sql: String {
      switch self {
      case .begin: "BEGIN IMMEDIATE"
      case .commit: "COMMIT"
      case .beginShare: "SAVEPOINT share"
      case .releaseShare: "RELEASE share"
      }
    }
  }

  /// The fixed statements, which need no search.
  private var fixed = [OpaquePointer?](repeating: nil, count: Fixed.allCases.count)
  /// The statements of the latest transactions, which need neither hashing nor moving.
  private var recent: [Place] = []
  /// The place after the one that was taken last. Similar transactions run the same statements in
  /// the same order, so the next statement is nearly always there.
  private var next = 0
  private var idle: [ExactText: Entry] = [:]
  private var clock: UInt64 = 0
  private let capacity: Int
  /// The number of compiled statements so far, for tests and benchmarks.
  private(set) var preparedCount = 0
  /// Whether a compiled text may have deferred foreign keys; see ``Connection/mayDefer``.
  private(set) var mayDefer = false
  /// The number of statements taken so far, compiled or cached.
  private(set) var takenCount = 0
  /// The number of cached statements, without the fixed ones.
  var idleCount: Int { idle.count + recent.count { !$0.isLent } }

  /// A one-row transaction runs up to four statements in addition to BEGIN and COMMIT, and up to 16
  /// in a shared store.
  private var recentCountMax: Int { min(capacity, 24) }

  /// - Parameter capacity: The most cached statements, at least 1.
  init(capacity: Int) {
    precondition(capacity >= 1, "A statement cache keeps at least one statement.")
    self.capacity = capacity
  }

  /// Takes an idle statement for `sql` out of the cache, or prepares one.
  mutating func take(_ sql: String, on database: OpaquePointer) throws(SQLiteError) -> Statement {
    takenCount &+= 1
    if let place = recentPlace(of: sql) {
      recent[place].isLent = true
      next = place + 1
      return Statement(adopting: recent[place].handle)
    }
    if let index = idle.index(forKey: ExactText(sql)) {
      let entry = idle.remove(at: index).value
      return Statement(adopting: entry.handle)
    }
    preparedCount += 1
    if Connection.mayDefer(sql) { mayDefer = true }
    return try Statement(sql, on: database, persistent: true)
  }

  /// Returns a fixed statement, which stays in the cache. The caller resets it.
  mutating func handle(
    of statement: Fixed, on database: OpaquePointer
  ) throws(SQLiteError) -> OpaquePointer {
    takenCount &+= 1
    if let handle = fixed[statement.rawValue] { return handle }
    preparedCount += 1
    let handle = try Statement(statement.sql, on: database, persistent: true).release()
    fixed[statement.rawValue] = handle
    return handle
  }

  /// Returns the place of the statement, first where it is likely to be: after the statement that
  /// was taken last, or that one again, as in a loop. A statement of a model comes with the same
  /// text each time, and one that a program built with an equal one.
  private func recentPlace(of sql: String) -> Int? {
    let identity = Identity(sql)
    if isFree(next, for: identity) { return next }
    if isFree(next - 1, for: identity) { return next - 1 }
    if isFree(next, for: sql) { return next }
    if isFree(next - 1, for: sql) { return next - 1 }
    return recent.indices.first { isFree($0, for: sql) }
  }

  @inline(__always)
  private func isFree(_ place: Int, for identity: Identity) -> Bool {
    recent.indices.contains(place) && !recent[place].isLent && recent[place].identity == identity
  }

  /// Returns the place of a lent statement, first where the statement that was taken last is.
  private func recentPlace(of handle: OpaquePointer) -> Int? {
    let last = next - 1
    if recent.indices.contains(last), recent[last].handle == handle { return last }
    return recent.firstIndex { $0.handle == handle }
  }

  @inline(__always)
  private func isFree(_ place: Int, for sql: String) -> Bool {
    recent.indices.contains(place) && !recent[place].isLent && recent[place].sql.isExactly(sql)
  }

  /// Returns a statement to the cache, reset and without arguments.
  mutating func put(_ statement: consuming Statement, for sql: String) {
    statement.reset()
    let handle = statement.release()
    sqlite3_clear_bindings(handle)
    clock += 1
    if let place = recentPlace(of: handle) {
      recent[place].isLent = false
      recent[place].lastUse = clock
    } else {
      keepRecent(handle, for: sql)
    }
  }

  private mutating func keepRecent(_ handle: OpaquePointer, for sql: String) {
    // The same text ran during its own execution. One statement for it is enough.
    guard !recent.contains(where: { $0.sql.isExactly(sql) }) else {
      sqlite3_finalize(handle)
      return
    }
    let new = Place(sql, handle, lastUse: clock)
    guard recent.count >= recentCountMax else {
      recent.append(new)
      return
    }
    let free = recent.indices.filter { !recent[$0].isLent }
    guard let place = free.min(by: { recent[$0].lastUse < recent[$1].lastUse }) else {
      keep(handle, for: sql, lastUse: clock)
      return
    }
    let displaced = recent[place]
    recent[place] = new
    keep(displaced.handle, for: displaced.sql, lastUse: displaced.lastUse)
  }

  private mutating func keep(_ handle: OpaquePointer, for sql: String, lastUse: UInt64) {
    let entry = Entry(handle: handle, lastUse: lastUse)
    if let displaced = idle.updateValue(entry, forKey: ExactText(sql)) {
      sqlite3_finalize(displaced.handle)
    }
    if idle.count > capacity - recentCountMax,
      let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      sqlite3_finalize(oldest.value.handle)
      idle[oldest.key] = nil
    }
  }

  /// Finalizes every statement that is not lent.
  mutating func removeAll() {
    for handle in fixed { sqlite3_finalize(handle) }
    for place in fixed.indices { fixed[place] = nil }
    for place in recent where !place.isLent { sqlite3_finalize(place.handle) }
    recent = []
    for entry in idle.values { sqlite3_finalize(entry.handle) }
    idle.removeAll()
  }
}
