/// Copies a member's file for a snapshot.
struct MemberCopying {
  let engine: StoreEngine

  /// Copies one state of the file, while others read and write it. The copy has no name, and is
  /// gone when its last reader is released.
  ///
  /// - Parameters:
  ///   - keeper: The copy is given up when it has ended; nil to complete it in any case.
  ///   - path: The file beside which it is made; nil for the store's.
  /// - Throws: ``StoreError``.
  func copy(for keeper: SnapshotKeeper?, beside path: String? = nil) throws -> MemberSnapshot {
    let target = try CopyTarget(
      (path ?? engine.file.path) + "-snapshot", existing: .keep, isOpen: StoreEngines.isOpen,
      storePaths: StoreEngines.openPaths)
    let copying = StoreCopying(engine: engine)
    let file = try copying.copy(to: target) { _, _ in
      guard keeper?.hasEnded == true else { return }
      throw StoreError(.misuse, "The store is closed.")
    }.file
    let (record, schema) = try contents(of: copying.connection(to: file))
    return MemberSnapshot(record: record, schema: schema, source: try FileSnapshot(file.path))
  }

  private func contents(of copy: Connection) throws -> (record: MemberRecord, schema: [UInt8]) {
    guard let record = try MemberRecord(reading: copy) else {
      throw StoreError(
        .memberDiverged, "\(engine.file.path) is not a member of a shared store any more.")
    }
    return (record, try SharedSchema(reading: copy).digest)
  }
}
