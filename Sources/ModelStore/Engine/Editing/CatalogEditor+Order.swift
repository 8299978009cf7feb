// What the file records of being in order, so that opening it again has nothing to check.
extension CatalogEditor {
  /// What the file says of itself, where it was found in order for `declarations` and is as it was
  /// then, so that opening has nothing to check. The first store on a file in a process asks; for
  /// later ones the declarations of the others count, too.
  func filedCatalog(
    vouchingFor declarations: Declarations, on connection: Connection
  ) throws -> FiledCatalog? {
    guard models.schema.isEmpty, schema.validators.isEmpty,
      // Who only reads what the file says of itself is asked nothing.
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

  /// Records in the file that it is in order, for the next opening to find.
  ///
  /// - Parameter declarations: What the file was brought in line with; nil for nothing.
  /// - Precondition: A write transaction is open, in which nothing else of the catalog is changed
  ///   any more, and the store's own migrations were applied.
  func recordOrder(
    for declarations: Declarations? = nil, on connection: Connection
  ) throws {
    let digest = try declarations?.digest(with: configuration.functions)
    let recorded = try FiledCatalog(reading: connection)
    if let recorded, recorded.vouches(for: FiledCatalog.file),
      digest.map(recorded.vouches) ?? true
    {
      return
    }
    // A file that lacks one of the store's own tables is not in order.
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
    // Another program may have turned the journal off meanwhile.
    try isUpToDate(declarations, on: connection)
      && journal.plan(for: declarations, on: connection)?.isEmpty ?? true
  }

  /// As ``recordOrder(for:on:)``, in a transaction of its own, where an opening had nothing else to
  /// write. Only for the first store on a file: observers refetch after what is written here.
  func noteOrder(for declarations: Declarations, on connection: Connection) throws {
    guard models.schema.isEmpty,
      try filedCatalog(vouchingFor: declarations, on: connection) == nil
    else { return }
    do {
      try connection.hooks.withoutWaiting {
        try connection.inTransaction { try recordOrder(for: declarations, on: connection) }
      }
    } catch let error as SQLiteError where error.code.primary == .busy || error.isForWantOfSpace {
      // The next opening checks everything once more.
    }
  }

  /// Whether every entry is understood, no two describe one table, rules can be kept, adopted
  /// models are as their tables, and the journal's triggers are as they should be.
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
  /// Whether slots of its lists are in tables of another design, whose form the file decides.
  fileprivate var ownsAdoptedSlots: Bool { lists.contains { $0.columns != nil } }
}
