internal import CSQLite
internal import Synchronization

/// A database in the memory of this process, with its log. The connections of one store share it,
/// and it is freed when the last of them closes.
///
/// It keeps SQLite's two kinds of locks, so that every connection sees its own snapshot, as with a
/// file: the locks of the file (<https://sqlite.org/lockingv3.html>) and those of the log
/// (<https://sqlite.org/walformat.html#wal_locks>).
final class MemoryDatabase: Sendable {
  /// A file of a database, by what SQLite appends to its name.
  enum Part: String, CaseIterable {
    case main = ""
    case log = "-wal"
    case journal = "-journal"
  }

  /// What one connection holds of the database.
  private struct Holder {
    /// One of SQLite's five levels, from `SQLITE_LOCK_NONE` to `SQLITE_LOCK_EXCLUSIVE`.
    var level = SQLITE_LOCK_NONE
    /// The log's locks that it shares, and those that it has for itself, one bit for each.
    var shared: UInt32 = 0
    var exclusive: UInt32 = 0
    /// Whether it uses the index of the log.
    var isIndexed = false
  }

  private struct State {
    var parts: [Part: MemoryBytes] = [.main: MemoryBytes()]
    /// By the number of the connection's open file.
    var holders: [Int: Holder] = [:]
    var nextHolder = 0
    /// Addresses of the regions of the log's index.
    var index: [UInt] = []

    /// What every other connection holds.
    func others(than holder: Int) -> [Holder] {
      holders.filter { $0.key != holder }.map(\.value)
    }
  }

  let name: String
  /// Differs from the number of every other database of the process.
  let number: UInt64
  private let state = Mutex(State())

  private static let numbers = Atomic<UInt64>(0)
  private static let databases = Mutex<[String: MemoryDatabase]>([:])

  /// The beginning of every name. A store opens no file whose path begins like this.
  static let namePrefix = ":memory:"

  private init(number: UInt64) {
    self.number = number
    name = Self.namePrefix + String(number)
  }

  deinit { Self.free(state.withLock { $0.index }) }

  /// Makes an empty database, which SQLite can open by its name until the last connection closes.
  static func make() -> MemoryDatabase {
    let database = MemoryDatabase(number: numbers.add(1, ordering: .relaxed).newValue)
    databases.withLock { $0[database.name] = database }
    return database
  }

  /// The database that a file's name belongs to, and which part of it the file is.
  static func find(_ name: String) -> (database: MemoryDatabase, part: Part)? {
    databases.withLock { databases in
      for part in Part.allCases where name.hasSuffix(part.rawValue) {
        guard let found = databases[String(name.dropLast(part.rawValue.count))] else { continue }
        return (found, part)
      }
      return nil
    }
  }

  // Files

  /// - Returns: The number that stands for the opened file, for its locks.
  func hold(_ part: Part) -> Int {
    state.withLock { state in
      if state.parts[part] == nil { state.parts[part] = MemoryBytes() }
      state.nextHolder += 1
      if part == .main { state.holders[state.nextHolder] = Holder() }
      return state.nextHolder
    }
  }

  func close(_ holder: Int) {
    unmapIndex(holder)
    state.withLock { state in _ = state.holders.removeValue(forKey: holder) }
    discardUnused()
  }

  /// Frees the database if no connection has it open.
  func discardUnused() {
    guard state.withLock({ $0.holders.isEmpty }) else { return }
    // Released where no lock is held.
    let gone = Self.databases.withLock { $0.removeValue(forKey: name) }
    withExtendedLifetime(gone) {}
  }

  func has(_ part: Part) -> Bool { state.withLock { $0.parts[part] != nil } }

  func remove(_ part: Part) { state.withLock { $0.parts[part] = nil } }

  func size(of part: Part) -> Int { state.withLock { $0.parts[part]?.count ?? 0 } }

  /// As ``MemoryBytes/read(into:at:)``.
  func read(_ part: Part, into target: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    state.withLock { $0.parts[part]?.read(into: target, at: offset) ?? 0 }
  }

  func write(_ part: Part, _ source: UnsafeRawBufferPointer, at offset: Int) {
    state.withLock { $0.parts[part, default: MemoryBytes()].write(source, at: offset) }
  }

  func truncate(_ part: Part, to size: Int) {
    state.withLock { $0.parts[part]?.truncate(to: size) }
  }

  // Locks of the file

  /// Raises the level of `holder`. Never waits.
  ///
  /// - Returns: Whether it has the level; false when another connection's lock excludes it.
  func lock(_ holder: Int, _ level: Int32) -> Bool {
    state.withLock { state in
      guard let own = state.holders[holder]?.level, own < level else { return true }
      let highest = state.others(than: holder).map(\.level).max() ?? SQLITE_LOCK_NONE
      guard level > SQLITE_LOCK_SHARED else {
        // While a connection waits for the last reader to leave, no reader may enter.
        guard highest < SQLITE_LOCK_PENDING else { return false }
        state.holders[holder]?.level = level
        return true
      }
      guard highest < SQLITE_LOCK_RESERVED else { return false }
      let isBlocked = level == SQLITE_LOCK_EXCLUSIVE && highest > SQLITE_LOCK_NONE
      state.holders[holder]?.level = isBlocked ? SQLITE_LOCK_PENDING : level
      return !isBlocked
    }
  }

  func unlock(_ holder: Int, to level: Int32) {
    state.withLock { state in
      guard let own = state.holders[holder]?.level else { return }
      state.holders[holder]?.level = min(own, level)
    }
  }

  /// Whether any connection is about to write.
  var isReserved: Bool {
    state.withLock { $0.holders.values.contains { $0.level >= SQLITE_LOCK_RESERVED } }
  }

  // The index of the log, and its locks

  /// The memory of a region of the index, which does not move while any connection uses the index;
  /// nil when the region does not exist and `creating` is false.
  func mapIndex(
    _ holder: Int, region: Int, byteCount: Int, creating: Bool
  ) -> UnsafeMutableRawPointer? {
    let address: UInt? = state.withLock { state in
      state.holders[holder]?.isIndexed = true
      while creating, state.index.count <= region {
        let new = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
        new.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        state.index.append(UInt(bitPattern: new))
      }
      return state.index.indices.contains(region) ? state.index[region] : nil
    }
    return address.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
  }

  /// Ends the use of the index; the last connection to do so frees it.
  func unmapIndex(_ holder: Int) {
    let unused: [UInt] = state.withLock { state in
      state.holders[holder]?.isIndexed = false
      state.holders[holder]?.shared = 0
      state.holders[holder]?.exclusive = 0
      guard !state.holders.values.contains(where: \.isIndexed) else { return [] }
      defer { state.index = [] }
      return state.index
    }
    Self.free(unused)
  }

  private static func free(_ addresses: [UInt]) {
    for address in addresses { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
  }

  /// Takes or releases locks of the log. Never waits.
  ///
  /// - Parameters:
  ///   - locks: One bit for each.
  ///   - flags: Of `xShmLock`.
  /// - Returns: Whether it is done; false when another connection's lock excludes it.
  func lockIndex(_ holder: Int, _ locks: UInt32, _ flags: Int32) -> Bool {
    state.withLock { state in
      let isExclusive = flags & SQLITE_SHM_EXCLUSIVE != 0
      guard flags & SQLITE_SHM_LOCK != 0 else {
        if isExclusive {
          state.holders[holder]?.exclusive &= ~locks
        } else {
          state.holders[holder]?.shared &= ~locks
        }
        return true
      }
      let isTaken = state.others(than: holder).contains { other in
        (isExclusive ? other.exclusive | other.shared : other.exclusive) & locks != 0
      }
      guard !isTaken else { return false }
      if isExclusive {
        state.holders[holder]?.exclusive |= locks
      } else {
        state.holders[holder]?.shared |= locks
      }
      return true
    }
  }
}
