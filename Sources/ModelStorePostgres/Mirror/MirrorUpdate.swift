#if Postgres
  internal import ModelStore

  /// Brings a mirror from the state that it has to that of a read transaction.
  ///
  /// The journal says which records changed in between, and their values are read from the tables.
  /// So the mirror has one state of the store after each transaction, and never an older value of a
  /// record beside a newer one.
  struct MirrorUpdate {
    private let mirror: MirrorTransaction
    private let tables: [MirrorTable]
    /// The store, as the mirror remembers it.
    private let source: String
    /// The models whose changes may not be in the journal.
    private let damaged: Set<String>
    /// The models whose tables are written completely.
    private var stale: Set<String> = []
    private var recordCount = 0

    /// - Parameters:
    ///   - models: All that the mirror is to have. Others are dropped.
    ///   - source: The store, as the mirror remembers it.
    ///   - damaged: The models whose changes may not be in the journal, read after the state.
    /// - Throws: `StoreError` with code `unsupportedSchema`.
    init(
      _ mirror: MirrorTransaction, of models: [ModelSchema], source: String, damaged: [String]
    ) throws {
      self.mirror = mirror
      self.source = source
      self.damaged = Set(damaged)
      tables = try models.map { try MirrorTable($0, in: mirror.schema) }
    }

    /// - Parameter isComplete: Whether every record is written again.
    mutating func run(
      _ tx: borrowing ReadTransaction, rewriting isComplete: Bool = false
    ) throws -> MirrorProgress {
      let earlier = mirror.states.values.map(\.bookmark).max { $0.position < $1.position }
      let continuation = try earlier.map { try tx.journalContinuation(from: $0) } ?? .none
      let isSameStore = mirror.states.values.allSatisfy { $0.source == source }
      let continues = continuation == .certain || continuation == .plausible && isSameStore
      if !continues, !isSameStore, !isComplete { throw otherStore }
      try mirror.prepare()
      let names = Set(tables.map(\.model.name))
      for model in mirror.states.keys.sorted() where !names.contains(model) {
        try mirror.drop(model)
      }
      let bookmark = try tx.journalBookmark()
      var layouts: [String: Int64] = [:]
      for name in names { layouts[name] = try tx.journalLayoutHash(of: name) }
      stale = isComplete || !continues ? names : unfit(layouts, earlier)
      let current = tables.filter { !stale.contains($0.model.name) }
      if let earlier, earlier != bookmark { try applyChanges(tx, since: earlier, to: current) }
      for table in tables where stale.contains(table.model.name) { try fill(table, tx) }
      if earlier != bookmark || !stale.isEmpty {
        try mirror.save(tables, at: bookmark, layouts: layouts, of: source)
      }
      return MirrorProgress(
        position: bookmark.position, recordCount: recordCount, rebuilt: stale.sorted())
    }

    /// Tables are written again only for the same store, for example if an older copy of its file
    /// was restored.
    private var otherStore: StoreError {
      let other = mirror.states.values.first { $0.source != source }?.source ?? source
      return StoreError(
        .misuse,
        "The schema \(mirror.schema) has the mirror of another store: \(other). Choose another schema for \(source). If it is the same store, rebuild the mirror: storecli mirror rebuild."
      )
    }

    /// The models whose tables do not fit the model, or do not have the mirror's newest state.
    private func unfit(_ layouts: [String: Int64], _ earlier: JournalBookmark?) -> Set<String> {
      let unfit = tables.filter { table in
        guard let state = mirror.states[table.model.name] else { return true }
        return !state.isPresent || state.shape != table.shape || state.bookmark != earlier
          || state.layout != layouts[table.model.name] || damaged.contains(table.model.name)
      }
      return Set(unfit.map(\.model.name))
    }

    private mutating func applyChanges(
      _ tx: borrowing ReadTransaction, since start: JournalBookmark, to tables: [MirrorTable]
    ) throws {
      guard !tables.isEmpty else { return }
      var incomplete: Set<String> = []
      var count = 0
      let isRead = try tx.forEachChange(since: start) { changes in
        incomplete.formUnion(changes.incomplete)
        for table in tables {
          guard let keys = changes.keys[table.model.name],
            !incomplete.contains(table.model.name)
          else { continue }
          try apply(keys, to: table, tx)
          count += keys.count
        }
      }
      recordCount += count
      let names = tables.map(\.model.name)
      stale.formUnion(isRead ? names.filter(incomplete.contains) : names)
    }

    /// Writes these records as the store has them now.
    private func apply(
      _ keys: Set<[SQLValue]>, to table: MirrorTable, _ tx: borrowing ReadTransaction
    ) throws {
      // A key with another spelling belongs to another record:
      // https://sqlite.org/datatype3.html#collation
      func record(with key: [SQLValue]) throws -> DynamicRecord? {
        try tx.find(table.model, key: key).flatMap { $0.key == key ? $0 : nil }
      }
      // First, because other records may have taken values over.
      var absent = MirrorRows(table.keyColumns, of: table)
      var deleted: Set<[SQLValue]> = []
      for key in keys where try record(with: key) == nil {
        deleted.insert(key)
        guard table.canHold(key) else { continue }
        try absent.append(key, key: key)
        try send(&absent, table.delete, of: table, when: absent.isFull)
      }
      try send(&absent, table.delete, of: table, when: absent.count > 0)
      var present = MirrorRows(table.columns, of: table)
      for key in keys where !deleted.contains(key) {
        guard let record = try record(with: key) else { continue }
        try present.append(record.values, key: key)
        try send(&present, table.upsert, of: table, when: present.isFull)
      }
      try send(&present, table.upsert, of: table, when: present.count > 0)
    }

    private mutating func fill(_ table: MirrorTable, _ tx: borrowing ReadTransaction) throws {
      let earlier = mirror.states[table.model.name].flatMap { $0.isPresent ? $0.shape : nil }
      try mirrorFailures(of: table) {
        // A table that is created again loses what readers made of it: views, indexes and rights.
        guard let additions = earlier.flatMap(table.additions) else {
          return try mirror.create(table)
        }
        try mirror.run(table.deleteAll)
        for addition in additions { try mirror.run(addition) }
      }
      var rows = MirrorRows(table.columns, of: table)
      var count = 0
      try tx.forEach(StoreQuery<DynamicRecord>(table.model)) { record in
        try rows.append(record.values, key: record.key)
        count += 1
        try send(&rows, table.upsert, of: table, when: rows.isFull)
      }
      try send(&rows, table.upsert, of: table, when: rows.count > 0)
      recordCount += count
    }

    private func send(
      _ rows: inout MirrorRows, _ statement: Statement, of table: MirrorTable, when isDue: Bool
    ) throws {
      guard isDue else { return }
      try mirrorFailures(of: table) { _ = try mirror.run(statement, rows.arguments) }
      rows.removeAll()
    }

    private func mirrorFailures(of table: MirrorTable, _ body: () throws -> Void) throws {
      do {
        try body()
      } catch let failure as PostgresFailure {
        throw failure.mirrorError(of: table.model.name)
      }
    }
  }

  extension PostgresFailure {
    /// The error for a caller of a mirror.
    func mirrorError(of model: String? = nil) -> StoreError {
      let subject = model.map { "The mirror of \($0)" } ?? "The mirror"
      let reason = text.hasSuffix(".") ? text : text + "."
      let code = state.map { " (\($0))" } ?? ""
      switch state {
      case "55P03":
        return StoreError(
          .busy,
          "Another program uses the mirror for long: \(reason) Nothing was changed; try again.")
      case "53100":
        return StoreError(
          .outOfSpace, "PostgreSQL has no space left for the mirror: \(reason) It was not changed.")
      default:
        return StoreError(
          .mirrorUnavailable, "\(subject) was not changed. PostgreSQL says: \(reason)\(code)",
          model: model)
      }
    }
  }
#endif
