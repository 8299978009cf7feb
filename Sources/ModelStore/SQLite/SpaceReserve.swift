internal import CSQLite
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Disk space that a store reserves on a nearly full disk, in a file beside the database. Deleting
/// and reading then still work when the disk is full. The file contains no data, and opening the
/// database does not need it. If the disk has enough space, there is no reserve.
///
/// Other processes may create, use or remove the same file at any time, so each use checks the
/// file.
final class SpaceReserve: Sendable {
  private let directory: String?
  private let path: String
  private let processID = getpid()
  private let state = Mutex(State())

  private struct State {
    /// Bytes that were released to the disk and must be allocated again.
    var lentByteCount = 0
    /// The size to restore after the log that used a part of it is removed.
    var owedByteCount = 0
    /// Whether there was a reserve at the last check. On a disk with enough space, a store does not
    /// check before a commit.
    var isKept = false
  }

  private static let unit = 64 * 1024
  private static let byteCountMin = 2 * unit
  private static let maxByteCount = 16 * unit
  /// With less free space, the store creates the reserve. With twice as much, it removes it.
  private static let scarceByteCount = 256 << 20

  /// - Parameter database: The path of the database; nil for one in memory, which has no reserve.
  init(database: String?) {
    path = database.map { $0 + "-reserve" } ?? ""
    directory = database.map(Self.directory)
  }

  private static func directory(of database: String) -> String {
    database.lastIndex(of: "/").map { String(database[...$0]) } ?? "."
  }

  /// The connections are closed, so the log of a deletion has released its space.
  deinit {
    let owed = state.withLock(\.owedByteCount)
    guard owed > 0, getpid() == processID, let free = freeByteCount else { return }
    let held = byteCount ?? 0
    let wanted = min(owed, (free + held) / Self.unit * Self.unit)
    guard wanted > held else { return }
    if held > 0 { unlink(path) }
    _ = makeLargest(wanted)
  }

  /// Creates, enlarges or removes the reserve for the current free space. Its size is a quarter of
  /// the free space, from 128 KiB to 1 MiB. If the user may not create the file, there is no
  /// reserve.
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

  /// Checks for a reserve that another process may have created.
  func refresh() { state.withLock { $0.isKept = byteCount ?? 0 > 0 } }

  /// Releases the reserved bytes to the disk, if it has less free space than the largest reserve.
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

  /// Whether bytes were released and not allocated again.
  var isLent: Bool { state.withLock { $0.lentByteCount > 0 } }

  /// Allocates the released bytes again, if they are still free. The rest follows at
  /// deinitialization.
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

  /// The size of the reserve; nil if there is none, or if a store did not create the file.
  private var byteCount: Int? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1,
      status.st_mode & 0o777 == Self.mode, status.modificationSecond == 0,
      status.st_size <= Self.maxByteCount, Int(status.st_size) % Self.unit == 0
    else { return nil }
    return Int(status.st_size)
  }

  /// Together with a modification time of 1970-01-01, this marks the file as a reserve, so a
  /// database of the same name is never removed. The check does not open the file, because closing
  /// it would release SQLite's locks.
  private static let mode: mode_t = 0o400

  /// Creates a reserve of `byteCount` bytes, or slightly less if the file system needs space for
  /// its metadata.
  ///
  /// - Returns: Its size; 0 if there is none.
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
    #if os(Linux)
      return posix_fallocate(descriptor, 0, off_t(byteCount)) == 0
    #else
      let zeros = [UInt8](repeating: 0, count: unit)
      return (0..<byteCount / unit).allSatisfy { _ in write(descriptor, zeros, unit) == unit }
    #endif
  }

  /// The bytes that this user may still allocate; nil if the system does not report it.
  private var freeByteCount: Int? {
    guard let directory else { return nil }
    let count = csqlite_free_byte_count(directory)
    return count >= 0 ? Int(count) : nil
  }
}

extension stat {
  fileprivate var modificationSecond: Int {
    #if os(Linux)
      st_mtim.tv_sec
    #else
      st_mtimespec.tv_sec
    #endif
  }
}
