internal import CSQLite
internal import Synchronization

/// The VFS that SQLite opens a ``MemoryDatabase`` through: files in the memory of this process.
///
/// SQLite's own databases in memory have no write-ahead log, so a reader there would keep the
/// writer waiting, or see what is not committed. <https://sqlite.org/c3ref/vfs.html>
enum MemoryFileSystem {
  /// The name to open databases with. The first use registers the VFS with SQLite.
  static let name: String = {
    let name = "modelstore-memory"
    register(as: name)
    return name
  }()

  /// Takes everything except files, such as the time, from the system's VFS.
  private static func register(as name: String) {
    guard let system = sqlite3_vfs_find("unix") ?? sqlite3_vfs_find(nil) else {
      preconditionFailure("SQLite was built without access to files.")
    }
    // SQLite keeps all three for as long as the process lives.
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: MemoryFile.methods)
    let characters = UnsafeMutableBufferPointer<CChar>.allocate(capacity: name.utf8.count + 1)
    _ = characters.initialize(from: name.utf8CString)
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    vfs.initialize(to: system.pointee)
    vfs.pointee.zName = UnsafePointer(characters.baseAddress)
    vfs.pointee.pAppData = UnsafeMutableRawPointer(methods)
    vfs.pointee.szOsFile = MemoryFile.structureSize
    vfs.pointee.xOpen = { vfs, name, file, flags, outFlags in
      guard let file else { return SQLITE_CANTOPEN }
      file.pointee.pMethods = nil
      guard let name, let found = MemoryDatabase.find(String(cString: name)) else {
        return SQLITE_CANTOPEN
      }
      MemoryFile(found.database, found.part).place(in: file)
      file.pointee.pMethods = vfs?.pointee.pAppData.map {
        UnsafePointer($0.assumingMemoryBound(to: sqlite3_io_methods.self))
      }
      outFlags?.pointee = flags
      return SQLITE_OK
    }
    vfs.pointee.xDelete = { _, name, _ in
      guard let name, let found = MemoryDatabase.find(String(cString: name)) else {
        return SQLITE_OK
      }
      found.database.remove(found.part)
      return SQLITE_OK
    }
    vfs.pointee.xAccess = { _, name, _, result in
      let found = name.flatMap { MemoryDatabase.find(String(cString: $0)) }
      result?.pointee = found.map { $0.database.has($0.part) } == true ? 1 : 0
      return SQLITE_OK
    }
    vfs.pointee.xFullPathname = { _, name, capacity, result in
      guard let name, let result else { return SQLITE_CANTOPEN }
      // Names have no folders, so every name is a full path.
      let bytes = UnsafeBufferPointer(start: name, count: String(cString: name).utf8.count + 1)
      guard bytes.count <= capacity else { return SQLITE_CANTOPEN }
      _ = UnsafeMutableBufferPointer(start: result, count: bytes.count).update(from: bytes)
      return SQLITE_OK
    }
    let code = sqlite3_vfs_register(vfs, 0)
    precondition(code == SQLITE_OK, "SQLite refused the VFS: \(code)")
  }
}
