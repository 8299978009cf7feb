// The file's record that it is in order, so that opening it again has nothing to check.
extension CatalogEditor {
  /// Returns the catalog if the file was found in order for `declarations` and has not changed
  /// since.
  ///
  /// Opening then has nothing to check. Only the first store on a file in a process calls it. For
  /// later stores the declarations of the others count too.
  func filedCatalog(
    vouchingFor declarations: Declarations, on connection: Connection
  ) throws -> FiledCatalog? {
    guard models.schema.isEmpty, schema.validators.isEmpty,
      // A read-only store without declarations uses the file's own description. It checks nothing.
      configuration.access != .readOnly || !declarations.isEmpty,
      !declarations.models.contains(where: \.ownsAdoptedSlots)
    else { return nil }
    return try connection.inOneState {
      guard let filed = try FiledCatalog(reading: connection),
        filed.vouches(for: FiledCatalog.file),
        try declarations.isEmpty
          || filed.vouches(for: declarations.digest(with: configuration.functions))
      else { return nil }
      return filed
    }
  }

  /// Records in the file that it is in order. The next opening reads this record.
  ///
  /// - Parameter declarations: The declarations that the file now matches; nil for none.
  /// - Precondition: A write transaction is open. The store's own migrations were applied, and the
  ///   transaction does not change the catalog any further.
  func recordOrder(
    for declarations: Declarations? = nil, on connection: Connection
  ) throws {
    try SupersededForms(connection: connection).settleTypes(of: declarations?.models ?? [])
    let digest = try declarations?.digest(with: configuration.functions)
    let recorded = try FiledCatalog(reading: connection)
    if let recorded, recorded.vouches(for: FiledCatalog.file),
      digest.map(recorded.vouches) ?? true
    {
      return
    }
    // A file without one of the store's own tables is not in order.
    _ = try FiledCatalog.knowingTable {
      guard try isFileInOrder(on: connection) else { return }
      var digests = [FiledCatalog.file]
      if let declarations, let digest, try isInOrder(for: declarations, on: connection) {
        digests.append(digest)
      }
      try FiledCatalog.record(digests, on: connection)
    }
  }

  private func isInOrder(
    for declarations: Declarations, on connection: Connection
  ) throws -> Bool {
    // Another program may have turned the journal off in the meantime.
    try isUpToDate(declarations, on: connection)
      && journal.plan(for: declarations, on: connection)?.isEmpty ?? true
  }

  /// Calls ``recordOrder(for:on:)`` in its own transaction, if an opening had nothing else to
  /// write.
  ///
  /// Only the first store on a file does this: observers refetch after this write.
  func noteOrder(for declarations: Declarations, on connection: Connection) throws {
    guard models.schema.isEmpty,
      try filedCatalog(vouchingFor: declarations, on: connection) == nil
    else { return }
    do {
      try connection.hooks.withoutWaiting {
        try connection.inTransaction { try recordOrder(for: declarations, on: connection) }
      }
    } catch let error as SQLiteError where error.code.primary == .busy || error.isForWantOfSpace {
      // The next opening checks everything again.
    }
  }

  /// Returns whether the file's catalog, rules, adopted models and journal triggers are correct.
  ///
  /// Every entry must be understood, and no two entries may describe one table.
  private func isFileInOrder(on connection: Connection) throws -> Bool {
    guard try problems(on: connection).isEmpty else { return false }
    let filed = try CatalogEntries.models.read(on: connection)
    let names = try CatalogEntries.models.texts(on: connection).map(\.name)
    let rules = try FiledRules(CatalogEntries.rules.read(on: connection), in: filed, on: connection)
    guard zip(names, filed).allSatisfy({ $0.isExactly($1.name) }),
      Set(names).count == names.count,
      Set(filed.map { ExactText($0.table.asciiFolded) }).count == filed.count,
      rules.left.isEmpty, rules.gone.isEmpty
    else { return false }
    let catalog = try Catalog(reading: connection)
    guard AdoptedModel.all(filed, in: catalog).allSatisfy({ $0.drift == nil }) else { return false }
    guard let layouts = try JournalLayouts(reading: connection) else { return true }
    return CompiledJournal(layouts, of: filed, in: catalog)
      .damagedModels.isEmpty
  }
}

extension ModelSchema {
  /// Whether the slots of its lists are in adopted tables, whose form the file decides.
  fileprivate var ownsAdoptedSlots: Bool { lists.contains { $0.columns != nil } }
}
