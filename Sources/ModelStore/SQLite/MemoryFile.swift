internal import CSQLite
internal import Synchronization

/// A part of a ``MemoryDatabase`` that one connection has open, and the functions that SQLite calls
/// on it: <https://sqlite.org/c3ref/io_methods.html>.
final class MemoryFile: Sendable {
  private let database: MemoryDatabase
  private let part: MemoryDatabase.Part
  /// The number under which the database keeps this file's locks.
  private let holder: Int

  init(_ database: MemoryDatabase, _ part: MemoryDatabase.Part) {
    self.database = database
    self.part = part
    holder = database.hold(part)
  }

  // SQLite's structure, followed by a reference to this object

  private typealias Reference = Unmanaged<MemoryFile>

  private static let referenceOffset = MemoryLayout<sqlite3_file>.stride

  /// The bytes that SQLite keeps for an open file.
  static let structureSize = Int32(referenceOffset + MemoryLayout<Reference>.size)

  /// Puts a reference to this object into `structure`, which keeps it until the file is closed.
  func place(in structure: UnsafeMutablePointer<sqlite3_file>) {
    UnsafeMutableRawPointer(structure).storeBytes(
      of: Reference.passRetained(self), toByteOffset: Self.referenceOffset, as: Reference.self)
  }

  private static func reference(
    in structure: UnsafeMutablePointer<sqlite3_file>?
  ) -> Reference {
    guard let structure else { preconditionFailure("SQLite passes the file that it calls.") }
    return UnsafeMutableRawPointer(structure).load(
      fromByteOffset: referenceOffset, as: Reference.self)
  }

  private static func at(_ structure: UnsafeMutablePointer<sqlite3_file>?) -> MemoryFile {
    reference(in: structure).takeUnretainedValue()
  }

  // The functions that SQLite calls

  static var methods: sqlite3_io_methods {
    var methods = sqlite3_io_methods()
    // With an index of the log, without files that are mapped to memory.
    methods.iVersion = 2
    setFileMethods(&methods)
    setLockMethods(&methods)
    setIndexMethods(&methods)
    return methods
  }

  private static func setFileMethods(_ methods: inout sqlite3_io_methods) {
    methods.xClose = { structure in
      let file = MemoryFile.reference(in: structure).takeRetainedValue()
      file.database.close(file.holder)
      return SQLITE_OK
    }
    methods.xRead = { structure, bytes, count, offset in
      guard CachedFileReads.allow(Int(count)) else { return SQLITE_IOERR }
      let file = MemoryFile.at(structure)
      let target = UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))
      let read = file.database.read(file.part, into: target, at: Int(offset))
      guard read < target.count else { return SQLITE_OK }
      // SQLite relies on zeros there.
      UnsafeMutableRawBufferPointer(rebasing: target[read...])
        .initializeMemory(as: UInt8.self, repeating: 0)
      return LogHeader.shortRead
    }
    methods.xWrite = { structure, bytes, count, offset in
      let file = MemoryFile.at(structure)
      let source = UnsafeRawBufferPointer(start: bytes, count: Int(count))
      file.database.write(file.part, source, at: Int(offset))
      return SQLITE_OK
    }
    methods.xTruncate = { structure, size in
      let file = MemoryFile.at(structure)
      file.database.truncate(file.part, to: Int(size))
      return SQLITE_OK
    }
    methods.xSync = { _, _ in SQLITE_OK }
    methods.xFileSize = { structure, size in
      let file = MemoryFile.at(structure)
      size?.pointee = Int64(file.database.size(of: file.part))
      return SQLITE_OK
    }
    methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
    methods.xSectorSize = { _ in 4096 }
    methods.xDeviceCharacteristics = { _ in
      SQLITE_IOCAP_ATOMIC | SQLITE_IOCAP_SAFE_APPEND | SQLITE_IOCAP_SEQUENTIAL
        | SQLITE_IOCAP_POWERSAFE_OVERWRITE
    }
  }

  private static func setLockMethods(_ methods: inout sqlite3_io_methods) {
    methods.xLock = { structure, level in
      let file = MemoryFile.at(structure)
      return file.database.lock(file.holder, level) ? SQLITE_OK : SQLITE_BUSY
    }
    methods.xUnlock = { structure, level in
      let file = MemoryFile.at(structure)
      file.database.unlock(file.holder, to: level)
      return SQLITE_OK
    }
    methods.xCheckReservedLock = { structure, result in
      result?.pointee = MemoryFile.at(structure).database.isReserved ? 1 : 0
      return SQLITE_OK
    }
  }

  private static func setIndexMethods(_ methods: inout sqlite3_io_methods) {
    methods.xShmMap = { structure, region, byteCount, isCreating, result in
      let file = MemoryFile.at(structure)
      result?.pointee = file.database.mapIndex(
        file.holder, region: Int(region), byteCount: Int(byteCount), creating: isCreating != 0)
      return SQLITE_OK
    }
    methods.xShmLock = { structure, first, count, flags in
      let file = MemoryFile.at(structure)
      let locks = (UInt32(1) << UInt32(count) - 1) << UInt32(first)
      return file.database.lockIndex(file.holder, locks, flags) ? SQLITE_OK : SQLITE_BUSY
    }
    methods.xShmBarrier = { _ in atomicMemoryFence(ordering: .sequentiallyConsistent) }
    methods.xShmUnmap = { structure, _ in
      let file = MemoryFile.at(structure)
      file.database.unmapIndex(file.holder)
      return SQLITE_OK
    }
  }
}
