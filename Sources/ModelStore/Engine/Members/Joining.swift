#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Makes a member's file from the ledger's snapshot, before the store opens it.
struct Joining {
  let shared: SharedLedger
  let path: String
  let policy: Connection.Policy

  /// Writes the file, if there is none and the ledger has the store. If another process does the
  /// same, its file stays.
  ///
  /// - Throws: ``StoreError``; ``LedgerError``. There is no new file then.
  func run() throws {
    guard !exists else { return }
    let target = try CopyTarget(
      path, existing: .keep, isOpen: StoreEngines.isOpen, storePaths: StoreEngines.openPaths)
    guard let file = try file(for: target) else { return }
    do {
      try StoreEngines.withoutOpening { try file.publish() }
    } catch let error as StoreError where error.code == .fileExists {
      return
    }
  }

  /// Makes a file that the ledger's commits follow. It has no name yet.
  ///
  /// If newer snapshots replace the one that is read, the ledger may remove the commits after it
  /// before the file is complete. Then it begins again from the newest snapshot.
  ///
  /// - Returns: nil if the ledger does not have the store.
  func file(for target: CopyTarget) throws -> PartialFile? {
    let ledger = try shared.open()
    while let snapshot = try ledger.snapshot() {
      let file = try PartialFile(for: target)
      try fill(file.path, from: snapshot)
      try complete(file.path, snapshot)
      try file.sync()
      let following = try ledger.commits(after: snapshot.number, limit: 1).first
      guard let following, following.number != snapshot.number.next else { return file }
    }
    return nil
  }

  private var exists: Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  private func fill(_ path: String, from snapshot: any SnapshotReader) throws {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw failure(errno) }
    defer { close(descriptor) }
    while let part = try snapshot.next() {
      var rest = part[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 || errno == EINTR else { throw failure(errno) }
        rest = rest.dropFirst(max(0, count))
      }
    }
  }

  private func failure(_ number: Int32) -> StoreError {
    StoreError(
      [ENOSPC, EDQUOT, EFBIG].contains(number) ? .outOfSpace : .ioFailure,
      "\(path) could not be written: \(String(cString: strerror(number))). There is no new member.")
  }

  /// Checks the copy, and gives it a member's number of its own.
  private func complete(_ path: String, _ snapshot: any SnapshotReader) throws {
    var policy = policy
    policy.fileSystem = nil
    do {
      let copy = try Connection(path: path, role: .copy, policy: policy)
      if let damage = try IntegrityCheck.pageDamage(on: copy).first {
        throw StoreError(
          .corrupt,
          "The ledger's snapshot of \(shared.name) is damaged: \(damage) There is no new member.")
      }
      guard let found = try MemberRecord(reading: copy), found.store == shared.name,
        found.number == snapshot.number, found.hash == snapshot.hash
      else {
        throw StoreError(
          .corrupt,
          "The ledger's snapshot is not of the commit \(snapshot.number) of \(shared.name). There is no new member."
        )
      }
      try MemberRecord(
        store: found.store, member: .make(), number: found.number, hash: found.hash,
        epoch: found.epoch
      ).write(on: copy)
    } catch let error as SQLiteError {
      throw StoreError(error)
    }
  }
}

/// Reads a file as parts of a snapshot.
final class FileSnapshot: SnapshotSource {
  private let descriptor: Int32
  private let path: String

  init(_ path: String) throws(StoreError) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      throw DatabaseFile.Problem.refused(path: path, errno: errno).storeError
    }
  }

  deinit { close(descriptor) }

  func next() throws -> [UInt8]? {
    var part: [UInt8] = []
    while part.count < SnapshotPart.byteCountMax {
      var piece = [UInt8](repeating: 0, count: SnapshotPart.byteCountMax - part.count)
      let count = piece.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      guard count >= 0 || errno == EINTR else {
        throw DatabaseFile.Problem.refused(path: path, errno: errno).storeError
      }
      if count == 0 { break }
      part += piece.prefix(max(0, count))
    }
    return part.isEmpty ? nil : part
  }
}
