extension Store {
  /// Returns a condition over one field of one record, for a ``Gate``.
  ///
  /// - Parameters:
  ///   - name: The name of the condition in the verdict.
  ///   - key: The record's key. While the record does not exist, the condition is not met.
  ///   - message: The requirement, worded to follow the name: "must not be empty".
  ///   - predicate: Returns whether the value is valid.
  /// - Throws: ``StoreError`` with code `unknownModel`, `unknownField`, `invalidValue` or
  ///   `unsupportedSchema` when the field cannot be observed.
  public func check<M: Model, Value: ColumnValue & Sendable>(
    _ name: String, _ field: any KeyPath<M, Value> & Sendable, of key: M.Key,
    _ message: String = "is not valid", _ predicate: @escaping @Sendable (Value) -> Bool
  ) throws -> GateCheck<Value> {
    let path = try Observed.field(field, of: key).content.get().whole
    let schema = try open.observedSchema(M.self)
    guard let index = M.definition.fieldIndex(of: field) else {
      throw StoreError(
        .unknownField, M.definition.notStored(field), model: schema.name)
    }
    return GateCheck(
      GateCondition(
        name: name, message: message, test: GateCheck.test(predicate),
        source: .record(
          GateCondition.RecordField(
            store: lease.gateStore, place: GatePlace(model: schema.name, key: path.key ?? []),
            name: schema.fields[index].name, index: index,
            decode: { stored in
              do throws(ColumnError) {
                return try Value(sqlValue: stored)
              } catch {
                throw StoreError(error, reading: schema)
              }
            }))))
  }

  /// Runs `body` as one transaction, on the calling thread, if `gate` is met when it begins. The
  /// gate's records are read inside the transaction. Its drafts count with their current values.
  ///
  /// - Throws: As `write(_:)`; ``StoreError`` with code `rejected` and the failed condition
  ///   when the gate is not met.
  @discardableResult
  public func write<Result>(
    if gate: Gate, _ body: (borrowing WriteTransaction) throws -> Result
  ) throws -> Result {
    let engine = try lease.openForWriting
    return try engine.write { tx in
      try engine.check(gate, in: tx)
      return try body(tx)
    }
  }

  /// As the synchronous form, on the writer's thread.
  @discardableResult
  public func write<Result: Sendable>(
    if gate: Gate, _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Result
  ) async throws -> Result {
    let engine = try open
    return try await write { tx in
      try engine.check(gate, in: tx)
      return try body(tx)
    }
  }
}

extension StoreLease {
  /// The parts of this store that gates need. They do not keep it open.
  fileprivate var gateStore: GateStore {
    GateStore(
      identity: scope.number, coreIdentity: engine.number,
      read: { [weak self] places in
        let engine = try self.open
        return try engine.connections.readers.sync { connection in
          try engine.read(connection) { reads in try engine.images(at: places, reads.access) }
        }
      },
      reread: { [weak self] place in
        let engine = try self.open
        return try engine.connections.delivery.sync { connection in
          try engine.read(connection) { reads in try engine.images(at: [place], reads.access)[0] }
        }
      },
      begin: { [weak self] feed, start in try self.open.begin(feed, start) },
      whenOver: { [weak self] places, end in
        guard let self else {
          end()
          return {}
        }
        return scope.add(places.map { ObservedPath(model: $0.model, key: $0.key) }, end: end)
      },
      report: { [report = scope.report] error in report(StoreError(reporting: error)) },
      calls: engine.calls)
  }
}

extension StoreEngine {
  /// Subscribes `feed` to every later commit that touches its records, and calls `start` with their
  /// current values before another commit can happen.
  fileprivate func begin(_ feed: GateFeed, _ start: ([[SQLValue]?]) throws -> Void) throws {
    try connections.writer.sync { writer in
      try self.foreignSync.atPublishedState(&writer) { writer in
        let access = _TransactionAccess(
          connection: writer.connection, models: models, capture: nil, isWritable: false)
        try start(try self.images(at: feed.places, access))
        for (place, fields) in feed.fields.enumerated() {
          let schema = try models.schema.model(named: feed.places[place].model)
          let interest = ChangeBroker.Interest(
            model: schema.name, records: .one(feed.places[place].key, of: schema),
            fields: fields)
          feed.end(by: self.broker.add(feed.observer(of: place, interest: interest)))
        }
      }
    }
  }

  /// - Throws: ``StoreError`` with code `rejected` when `gate` is not met.
  func check(_ gate: Gate, in transaction: borrowing WriteTransaction) throws {
    let access = transaction.access
    let (verdict, failed) = try gate.verdict { store, places in
      store.coreIdentity == number ? try images(at: places, access) : try store.read(places)
    }
    guard !verdict.isValid else { return }
    throw StoreError(rejecting: [gate.violation(of: failed)], count: 1)
  }

  fileprivate func images(
    at places: [GatePlace], _ access: _TransactionAccess
  ) throws -> [[SQLValue]?] {
    try places.map { place in
      try access.record(try models.schema.model(named: place.model), key: place.key)?.values
    }
  }
}
