import CFaultVFS
import CSQLite

@testable import ModelStore

/// A store's file behind the fault-injecting VFS, in a directory of its own.
struct FaultyStore {
  let directory: TemporaryDirectory
  /// The path as it is passed to SQLite; faults are matched against it.
  let path: String

  init() throws {
    guard fault_vfs_register() == SQLITE_OK else { throw NotRegistered() }
    directory = try TemporaryDirectory()
    path = realPath(directory.file("faulty.store"))
  }

  struct NotRegistered: Error {}

  func open(
    durability: StoreConfiguration.Durability = .full, checkpointFrameCount: Int = 1000,
    report: @escaping @Sendable (StoreError) -> Void = { _ in }
  ) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.durability = durability
    configuration.checkpointFrameCount = checkpointFrameCount
    configuration.busyTimeout = .milliseconds(50)
    configuration.fileSystem = "fault"
    return try Store(at: path, models: Artist.self, configuration: configuration, onError: report)
  }

  /// The file as a kill at this moment would leave it, opened again.
  func afterKill() throws -> Store {
    let copy = directory.file("killed.store")
    guard fault_vfs_snapshot(path, copy) == 0 else { throw NotRegistered() }
    return try Store(at: copy, models: Artist.self)
  }
}

/// Extended result codes, macros that Swift does not import: <https://sqlite.org/rescode.html>.
enum ExtendedCode {
  static let ioRead = SQLITE_IOERR | (1 << 8)
  static let ioWrite = SQLITE_IOERR | (3 << 8)
  static let ioSync = SQLITE_IOERR | (4 << 8)
  static let ioTruncate = SQLITE_IOERR | (6 << 8)
  static let ioStatus = SQLITE_IOERR | (7 << 8)
  static let ioDelete = SQLITE_IOERR | (10 << 8)
  static let ioAccess = SQLITE_IOERR | (13 << 8)
  static let ioLock = SQLITE_IOERR | (15 << 8)
  static let ioSharedMemorySize = SQLITE_IOERR | (19 << 8)
  static let ioSharedMemoryMap = SQLITE_IOERR | (21 << 8)
}
