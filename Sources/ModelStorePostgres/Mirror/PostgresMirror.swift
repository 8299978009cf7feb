#if Postgres
  internal import Dispatch
  public import ModelStore

  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Darwin
  #endif

  /// A copy of a store's records in tables of PostgreSQL, for programs that read SQL there.
  ///
  /// ```swift
  /// let mirror = try PostgresMirror("postgresql://app@db/reports")
  /// try await mirror.follow(store)
  /// ```
  ///
  /// Each model is a table in a schema of its own, and each field a column. The tables have one
  /// state of the store after each transaction of PostgreSQL, and remember which one. So a mirror
  /// continues after a crash of either side, from any member of a shared store, and without losing
  /// or repeating anything. PostgreSQL refuses changes by other programs.
  ///
  /// It copies models whose change journal is on; see the article Mirrors for SQL readers. One
  /// update at a time changes a mirror. Those of other programs wait for up to 30 seconds.
  ///
  /// You can call it from any thread. The blocking forms wait for PostgreSQL, and read the store in
  /// one transaction for that long.
  public struct PostgresMirror: RecordMirror {
    private let lane: ConnectionLane
    private let schema: String
    private let limits: Limits

    /// Prepares a mirror. It connects when you first use it.
    ///
    /// - Parameters:
    ///   - connection: A connection string of libpq, as for `SharedLedger.postgres(_:store:)`. The
    ///     user needs the right to create a schema for the first update, and owns the tables.
    ///   - schema: The schema of the tables. Each store needs one of its own.
    /// - Throws: `StoreError` with code `mirrorUnavailable` if the connection string is malformed,
    ///   `misuse` if the schema's name is empty or has more than 63 bytes.
    public init(_ connection: String, schema: String = "mirror") throws {
      guard (1...63).contains(schema.utf8.count), !schema.utf8.contains(0) else {
        throw StoreError(.misuse, "The name of a schema in PostgreSQL has 1 to 63 bytes.")
      }
      let limits = Limits()
      self.schema = schema
      self.limits = limits
      lane = try Self.translating {
        ConnectionLane(
          try ConnectionString(connection), limits, ConnectionLane.Server(), for: .records)
      }
    }

    /// Brings the mirror up to the newest state of `store`.
    ///
    /// It writes the records that changed since the mirror's state. A table is written completely
    /// if it is new, if the model's fields have changed, and if the journal does not say what
    /// changed since: for example, it was trimmed, or the store's file is an older copy. The table
    /// of a model that has left the store is dropped.
    ///
    /// - Parameters:
    ///   - store: A member of a shared store needs its ledger, and gets the newest commits first.
    ///   - models: Models to copy beside those that the mirror has; nil for each model whose
    ///     journal is on.
    /// - Returns: What it did.
    /// - Throws: `StoreError` with code `mirrorUnavailable` if PostgreSQL cannot be reached or
    ///   refuses something, `busy`, `outOfSpace`, `unknownModel`, `unsupportedSchema` for a model
    ///   that a table of PostgreSQL cannot hold, `misuse` if the journal of a model is off or the
    ///   schema has the mirror of another store, `corrupt` or `journalGap` if the journal cannot be
    ///   read, and `invalidValue` for a value that a column cannot hold. Then the mirror is
    ///   unchanged, except that the connection may break during COMMIT: the message says so. In a
    ///   shared store also `ledgerUnavailable`.
    /// - Complexity: O(changed records), or O(records) for a table that is written completely. All
    ///   of it is one transaction of PostgreSQL.
    @discardableResult
    public func update(from store: Store, models: [String]? = nil) throws -> MirrorProgress {
      try transaction(with: store) { mirror in
        try update(mirror, with: chosen(models, in: store, for: mirror), from: store)
      }
    }

    private func update(
      _ mirror: MirrorTransaction, with models: [ModelSchema], from store: Store,
      rewriting isComplete: Bool = false
    ) throws -> MirrorProgress {
      let source = try source(of: store)
      return try store.read { tx in
        var update = try MirrorUpdate(
          mirror, of: models, source: source, damaged: store.changeJournal.damagedModels)
        return try update.run(tx, rewriting: isComplete)
      }
    }

    /// Brings the mirror up to the newest state of `store`, without blocking the caller's thread.
    @discardableResult
    public func update(from store: Store, models: [String]? = nil) async throws -> MirrorProgress {
      try await Self.onQueue { try update(from: store, models: models) }
    }

    /// Updates the mirror now and after each commit, until the task is cancelled or the store is
    /// closed. An update under way ends first.
    ///
    /// It ends with an error if an update fails. Call it again after a pause: it continues where
    /// the mirror is.
    ///
    /// - Parameters:
    ///   - store: The store to follow.
    ///   - models: As for ``update(from:models:)``.
    ///   - report: Called after each update that wrote something. If it throws, following ends.
    /// - Throws: As ``update(from:models:)``, and what `report` throws.
    public func follow(
      _ store: Store, models: [String]? = nil,
      report: @Sendable (MirrorProgress) throws -> Void = { _ in }
    ) async throws {
      func update() async throws -> JournalPosition {
        let progress = try await self.update(from: store, models: models)
        if progress.recordCount > 0 || !progress.rebuilt.isEmpty { try report(progress) }
        return progress.position
      }
      do {
        for try await _ in store.changeJournal.growth(after: try await update()) {
          _ = try await update()
        }
      } catch let error as StoreError where error.code == .misuse && store.isClosed {
        // It was closed during an update, which changed nothing then.
      }
    }

    /// Writes every record of the mirror again. Use it after ``verify(against:)`` found
    /// differences. Tables whose fields have not changed keep their indexes, views and rights.
    ///
    /// It also takes over the mirror of another store.
    ///
    /// - Throws: As ``update(from:models:)``, and `misuse` if the schema has no mirror.
    @discardableResult
    public func rebuild(from store: Store) throws -> MirrorProgress {
      try transaction(with: store) { mirror in
        try update(mirror, with: models(of: mirror, in: store), from: store, rewriting: true)
      }
    }

    /// Writes every record of the mirror again, without blocking the caller's thread.
    @discardableResult
    public func rebuild(from store: Store) async throws -> MirrorProgress {
      try await Self.onQueue { try rebuild(from: store) }
    }

    /// Updates the mirror, and compares each of its records with the store's, in the same state.
    ///
    /// It compares the models that the mirror has. Other updates wait meanwhile.
    ///
    /// - Returns: The differences, by model in name order: missing and changed records, then those
    ///   that only the mirror has. For each model, at most 1,000 of the former and of the latter.
    /// - Throws: As ``update(from:models:)``, and `misuse` if the schema has no mirror.
    /// - Complexity: Reads all records on both sides.
    public func verify(against store: Store) throws -> [MirrorDifference] {
      try transaction(with: store) { mirror in
        let models = try models(of: mirror, in: store)
        let source = try source(of: store)
        return try store.read { tx in
          var update = try MirrorUpdate(
            mirror, of: models, source: source, damaged: store.changeJournal.damagedModels)
          _ = try update.run(tx)
          let verification = MirrorVerification(mirror: mirror)
          return try models.sorted { $0.name < $1.name }.flatMap { model in
            try verification.differences(try MirrorTable(model, in: schema), tx)
          }
        }
      }
    }

    /// Updates the mirror and compares its records, without blocking the caller's thread.
    public func verify(against store: Store) async throws -> [MirrorDifference] {
      try await Self.onQueue { try verify(against: store) }
    }

    /// Deletes tables of the mirror. With the last one it also deletes the schema, if the mirror
    /// created it and nothing else is in it.
    ///
    /// - Parameter models: nil for all.
    /// - Returns: false if the schema has no mirror and `models` is nil. Then nothing was deleted.
    /// - Throws: `StoreError` with code `unknownModel` if the mirror has not such a model, or if
    ///   there is none; `mirrorUnavailable`, for example if a view needs a table. Then nothing was
    ///   deleted.
    @discardableResult
    public func remove(models: [String]? = nil) throws -> Bool {
      try transaction { mirror in
        let isMirror = !mirror.states.isEmpty
        for name in models ?? [] where mirror.states[name] == nil {
          throw StoreError(
            .unknownModel, "The mirror \(schema) has no model \(name).", model: name)
        }
        if let models, !mirror.states.keys.allSatisfy(models.contains) {
          for model in Set(models) { try mirror.drop(model) }
        } else {
          try mirror.removeAll()
        }
        return isMirror
      }
    }

    /// Deletes tables of the mirror as the synchronous form does, without blocking the caller's
    /// thread.
    @discardableResult
    public func remove(models: [String]? = nil) async throws -> Bool {
      try await Self.onQueue { try remove(models: models) }
    }

    // Models

    /// The models of a mirror that exists.
    private func models(of mirror: MirrorTransaction, in store: Store) throws -> [ModelSchema] {
      guard !mirror.states.isEmpty else {
        throw StoreError(
          .misuse, "The schema \(schema) has no mirror. Create it: storecli mirror update.")
      }
      let names = Set(store.schema.models.map(\.name))
      if let gone = mirror.states.keys.sorted().first(where: { !names.contains($0) }) {
        throw StoreError(
          .misuse,
          "The mirror has the model \(gone), which has left the store or has another name now. Update the mirror first: storecli mirror update.",
          model: gone)
      }
      return try chosen([], in: store, for: mirror)
    }

    /// The store, as the mirror remembers it.
    private func source(of store: Store) throws -> String {
      if let name = try store.sharedStoreName() { return "the shared store \(name)" }
      let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { bytes in
        bytes.initialize(repeating: 0)
        guard let start = bytes.baseAddress, gethostname(start, bytes.count - 1) == 0 else {
          return "this machine"
        }
        return String(cString: start)
      }
      return "\(store.path) on \(name)"
    }

    /// The models that the mirror is to have.
    private func chosen(
      _ names: [String]?, in store: Store, for mirror: MirrorTransaction
    ) throws -> [ModelSchema] {
      let details = try store.changeJournal.details()
      let models = store.schema.models.filter { $0.kind == .table }
      let known = Dictionary(models.map { ($0.name, $0) }) { first, _ in first }
      for name in names ?? [] where known[name] == nil {
        throw StoreError(.unknownModel, "\(name) is not a model of this store.", model: name)
      }
      let wanted = Set(names ?? Array(details.keys)).union(mirror.states.keys)
      return try models.filter { wanted.contains($0.name) }.map { model in
        guard details[model.name] == nil else { return model }
        throw StoreError(
          .misuse,
          "The change journal of \(model.name) is off, so a mirror cannot follow its changes. Turn it on, or remove \(model.name) from the mirror.",
          model: model.name)
      }
    }

    // Transactions

    /// Runs `body` while no other program changes the mirror, and while a member has every commit
    /// that any member had when it began.
    private func transaction<Result>(
      with store: Store, _ body: (MirrorTransaction) throws -> Result
    ) throws -> Result {
      // What a member missed for long is applied before other updates have to wait.
      try store.refreshFromLedger()
      return try transaction { mirror in
        try store.refreshFromLedger()
        return try body(mirror)
      }
    }

    private func transaction<Result>(_ body: (MirrorTransaction) throws -> Result) throws -> Result
    {
      try Self.translating {
        let mirror = try MirrorTransaction(lane, schema: schema, limits)
        let result = try body(mirror)
        try mirror.commit()
        return result
      }
    }

    private static func translating<Result>(_ body: () throws -> Result) throws -> Result {
      do {
        return try body()
      } catch let failure as PostgresFailure {
        throw failure.mirrorError()
      } catch let error as LedgerError {
        throw error.mirrorError
      }
    }

    private static func onQueue<Result: Sendable>(
      _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(with: Swift.Result { try body() })
        }
      }
    }
  }

  extension LedgerError {
    /// The error for a caller of a mirror.
    fileprivate var mirrorError: StoreError {
      switch self {
      case .timedOut: PostgresFailure(state: "55P03", text: message, isFatal: false).mirrorError()
      case .outOfSpace: PostgresFailure(state: "53100", text: message, isFatal: false).mirrorError()
      default: PostgresFailure(state: nil, text: message, isFatal: false).mirrorError()
      }
    }
  }
#endif
