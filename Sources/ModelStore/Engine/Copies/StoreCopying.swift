/// Makes backups of an open store.
struct StoreCopying {
  let engine: StoreEngine

  /// Copies one state of the store to a file.
  ///
  /// A read transaction is open for the whole copy. So the copy has one state, however often others
  /// commit meanwhile, and SQLite never begins it again.
  ///
  /// - Throws: ``StoreError``, or the error of `onProgress`. There is no new file then.
  func backUp(
    to path: String, existing: ExistingFile,
    onProgress: (_ done: Int, _ all: Int) throws -> Void
  ) throws -> Backup {
    let target = try CopyTarget(
      path, existing: existing, isOpen: StoreEngines.isOpen, storePaths: StoreEngines.openPaths)
    let (file, position) = try copy(to: target, onProgress: onProgress)
    let byteCount = file.byteCount
    try file.sync()
    // The place is checked again, and a store that is being opened there is not known yet.
    try StoreEngines.withoutOpening { try file.publish() }
    return Backup(
      path: target.path, position: JournalPosition(rawValue: position), byteCount: byteCount)
  }

  /// Copies one state of the store to a file beside the place, which has no name yet.
  ///
  /// - Returns: The file, and the end of its journal.
  func copy(
    to target: CopyTarget, onProgress: (_ done: Int, _ all: Int) throws -> Void
  ) throws -> (file: PartialFile, position: Int64) {
    let file = try PartialFile(for: target)
    let position = try engine.connections.copies.sync { source in
      try source.inOneState {
        let position = try JournalReader.end(on: source) ?? 0
        try copy(source, to: file, onProgress: onProgress)
        try check(file, endsAt: position)
        return position
      }
    }
    return (file, position)
  }

  /// Opens a file that no other program knows.
  func connection(to file: PartialFile) throws(SQLiteError) -> Connection {
    var policy = engine.configuration.connectionPolicy
    policy.fileSystem = nil
    return try Connection(path: file.path, role: .copy, policy: policy)
  }

  private func copy(
    _ source: Connection, to file: PartialFile,
    onProgress: (_ done: Int, _ all: Int) throws -> Void
  ) throws {
    do {
      // Closed at the end, so that the file can be synced and renamed.
      let target = try connection(to: file)
      try PageCopy(source: source, target: target).run(onProgress: onProgress)
      // The copy of a file with a log would need more files beside it, even to be read.
      let mode = try target.firstRow("PRAGMA journal_mode = DELETE") { try $0.text(at: 0) }
      guard mode == "delete" else {
        throw StoreError(.database, "\(file.path) did not leave its write-ahead log.")
      }
      // Otherwise a journal file would stay, because the copy is locked as a whole.
      try target.execute("PRAGMA journal_mode = MEMORY")
      try FiledCatalog.forget(on: target)
    } catch let error as SQLiteError {
      throw StoreError(error)
    }
  }

  /// Reads the copy again.
  ///
  /// - Throws: ``StoreError`` with code `corrupt`.
  private func check(_ file: PartialFile, endsAt position: Int64) throws {
    do {
      let copy = try connection(to: file)
      let damage = try copy.stoppingWithCall { try IntegrityCheck.pageDamage(on: copy) }
      if let first = damage.first {
        throw StoreError(
          .corrupt,
          "The copy of \(engine.file.path) is damaged, probably because the store is: \(first) There is no new copy. Check the store with checkIntegrity()."
        )
      }
      guard try (JournalReader.end(on: copy) ?? 0) == position else {
        throw StoreError(
          .corrupt,
          "The change journal of the copy of \(engine.file.path) does not end at position \(position). There is no new copy."
        )
      }
    } catch let error as SQLiteError {
      throw StoreError(error)
    }
  }
}
