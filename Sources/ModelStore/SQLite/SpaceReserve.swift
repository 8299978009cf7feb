internal import CSQLite
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Space of a nearly full disk that a store keeps allocated, in a file beside the database, so that
/// deleting and reading still work once the disk is full. It holds no data and is not needed to
/// open the database; on a disk with room there is none.
///
/// Other processes may make, use or remove the same file at any time, so each use checks the file.
final class SpaceReserve: Sendable {
  private let directory: String?
  private let path: String
  private let processID = getpid()
  private let state = Mutex(State())

  private struct State {
    /// Bytes that were given back to the disk and are to be allocated again.
    var lentByteCount = 0
    /// The size to restore once the log that took a part of it is gone.
    var owedByteCount = 0
    /// Whether there was a reserve when this store looked last: a store on a disk with room never
    /// looks before a commit.
    var isKept = false
  }

  private static let unit = 64 * 1024
  private static let byteCountMin = 2 * unit
  private static let maxByteCount = 16 * unit
  /// With less free space the reserve is made; with twice as much it is removed.
  private static let scarceByteCount = 256 << 20

  /// - Parameter database: The path of the database; nil for one in memory, which has no reserve.
  init(database: String?) {
    path = database.map { $0 + "-reserve" } ?? ""
    directory = database.map(Self.directory)
  }

  private static func directory(of database: String) -> String {
    database.lastIndex(of: "/").map { String(database[...$0]) } ?? "."
  }

  /// The connections are closed, so the log of a deletion has given its room back.
  deinit {
    let owed = state.withLock(\.owedByteCount)
    guard owed > 0, getpid() == processID, let free = freeByteCount else { return }
    let held = byteCount ?? 0
    let wanted = min(owed, (free + held) / Self.unit * Self.unit)
    guard wanted > held else { return }
    if held > 0 { unlink(path) }
    _ = makeLargest(wanted)
  }

  /// Makes, enlarges or removes the reserve as the free space asks for: a quarter of it, from
  /// 128 KiB to 1 MiB. Where the user may not make the file, there is none.
  func adjust() {
    state.withLock { state in
      let held = byteCount ?? 0
      state.isKept = held > 0
      guard state.lentByteCount == 0, let free = freeByteCount else { return }
      if free >= 2 * Self.scarceByteCount, held > 0 {
        state.isKept = unlink(path) != 0
        return
      }
      guard free < Self.scarceByteCount else { return }
      let wanted = min(Self.maxByteCount, (free + held) / 4 / Self.unit * Self.unit)
      guard wanted >= Self.byteCountMin, wanted > held else { return }
      if held > 0 { unlink(path) }
      state.isKept = makeLargest(wanted) > 0
    }
  }

  /// Looks for a reserve that another process may have made.
  func refresh() { state.withLock { $0.isKept = byteCount ?? 0 > 0 } }

  /// Gives the reserved bytes back to the disk, where it has fewer free ones than the largest
  /// reserve.
  ///
  /// - Returns: Whether there is more free space than before.
  @discardableResult
  func lend() -> Bool {
    state.withLock { state in
      guard state.isKept, let held = byteCount, held > 0, let free = freeByteCount,
        free < Self.maxByteCount, unlink(path) == 0
      else { return false }
      state.isKept = false
      state.lentByteCount += held
      return true
    }
  }

  /// Whether bytes were lent and not taken back.
  var isLent: Bool { state.withLock { $0.lentByteCount > 0 } }

  /// Allocates again what was lent, as far as it is still free; the rest when this goes.
  func takeBack() {
    state.withLock { state in
      guard state.lentByteCount > 0, let free = freeByteCount else { return }
      let lent = state.lentByteCount
      state.lentByteCount = 0
      let made = makeLargest(min(lent, free / Self.unit * Self.unit))
      state.isKept = made > 0
      if made < lent { state.owedByteCount = max(state.owedByteCount, lent) }
    }
  }

  /// The size of the reserve; nil where there is none, or a file that no store made.
  private var byteCount: Int? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1,
      status.st_mode & 0o777 == Self.mode, status.modificationSecond == 0,
      status.st_size <= Self.maxByteCount, Int(status.st_size) % Self.unit == 0
    else { return nil }
    return Int(status.st_size)
  }

  /// With a modification time of 1970-01-01 this marks the file as a reserve: a database of the
  /// same name is never removed. It is not opened to see, because closing it would drop SQLite's
  /// locks.
  private static let mode: mode_t = 0o400

  /// Makes a reserve of `byteCount` bytes, or of a little less where the file system needs room for
  /// its own bookkeeping.
  ///
  /// - Returns: Its size, 0 when there is none.
  private func makeLargest(_ byteCount: Int) -> Int {
    var size = byteCount
    while size >= Self.unit, !make(byteCount: size) { size -= Self.unit }
    return max(0, size)
  }

  private func make(byteCount: Int) -> Bool {
    let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, Self.mode)
    guard descriptor >= 0 else { return false }
    let isMade =
      Self.allocate(byteCount, in: descriptor) && fchmod(descriptor, Self.mode) == 0
      && futimens(descriptor, [timespec(), timespec()]) == 0
    close(descriptor)
    if !isMade { unlink(path) }
    return isMade
  }

  private static func allocate(_ byteCount: Int, in descriptor: Int32) -> Bool {
    #if canImport(Glibc)
      return posix_fallocate(descriptor, 0, off_t(byteCount)) == 0
    #else
      let zeros = [UInt8](repeating: 0, count: unit)
      return (0..<byteCount / unit).allSatisfy { _ in write(descriptor, zeros, unit) == unit }
    #endif
  }

  /// The bytes that this user may still allocate; nil where the system does not say.
  private var freeByteCount: Int? {
    guard let directory else { return nil }
    let count = csqlite_free_byte_count(directory)
    return count >= 0 ? Int(count) : nil
  }
}

extension stat {
  fileprivate var modificationSecond: Int {
    #if canImport(Glibc)
      st_mtim.tv_sec
    #else
      st_mtimespec.tv_sec
    #endif
  }
}
