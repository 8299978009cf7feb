extension Store {
  /// A condition over one field of one record, for a ``Gate``.
  ///
  /// - Parameters:
  ///   - name: What the verdict calls it.
  ///   - key: The record's key. While there is no such record, the condition is not met.
  ///   - message: What is demanded, to follow the name: "must not be empty".
  ///   - predicate: Whether the value is good.
  /// - Throws: ``StoreError`` with code `unknownModel`, `unknownField`, `invalidValue` or
  ///   `unsupportedSchema` when the field cannot be observed.
  public func check<M: Model, Value: ColumnValue & Sendable>(
    _ name: String, _ field: any KeyPath<M, Value> & Sendable, of key: M.Key,
    _ message: String = "is not valid", _ predicate: @escaping @Sendable (Value) -> Bool
  ) throws -> Check<Value> {
    let path = try Observed.field(field, of: key).content.get().whole
    let schema = try core.observedSchema(M.self)
    guard let index = M.definition.fieldIndex(of: field) else {
      throw StoreError(
        .unknownField, "\(field) is no stored field of \(schema.name).", model: schema.name)
    }
    return Check(
      GateCondition(
        name: name, message: message, test: Check.test(predicate),
        source: .record(
          GateCondition.RecordField(
            store: core.gateStore, place: GatePlace(model: schema.name, key: path.key ?? []),
            name: schema.fields[index].name, index: index,
            decode: { stored in
              do throws(ColumnError) {
                return try Value(sqlValue: stored)
              } catch {
                throw StoreError(error, reading: schema)
              }
            }))))
  }

  /// Runs `body` as one transaction, on the calling thread, if `gate` is met when it begins: its
  /// records are read inside the transaction, its drafts as they are then.
  ///
  /// - Throws: As ``write(_:)-(_)``; ``StoreError`` with code `rejected` and the condition that
  ///   failed when the gate is not met.
  @discardableResult
  public func write<Result>(
    if gate: Gate, _ body: (borrowing Transaction) throws -> Result
  ) throws -> Result {
    try core.commit { tx in
      try core.check(gate, in: tx)
      return try body(tx)
    }
  }

  /// As the synchronous form, on the writer's thread.
  @discardableResult
  public func write<Result: Sendable>(
    if gate: Gate, _ body: @escaping @Sendable (borrowing Transaction) throws -> Result
  ) async throws -> Result {
    let core = core
    return try await write { tx in
      try core.check(gate, in: tx)
      return try body(tx)
    }
  }
}

extension StoreCore {
  /// What gates need of this store. It does not keep it open.
  var gateStore: GateStore {
    let closed = StoreError(.misuse, "The store is closed.")
    return GateStore(
      identity: number,
      read: { [weak self] places in
        guard let self else { throw closed }
        return try readers.sync { connection in
          try self.read(connection) { reads in try self.images(at: places, reads.access) }
        }
      },
      reread: { [weak self] place in
        guard let self else { throw closed }
        return try deliveryReader.sync { connection in
          try self.read(connection) { reads in try self.images(at: [place], reads.access)[0] }
        }
      },
      begin: { [weak self] feed, start in
        guard let self else { throw closed }
        try writer.sync { writer in
          try self.atToldState(&writer) { writer in
            let access = TransactionAccess(
              connection: writer.connection, models: self.models, capture: nil, isWritable: false)
            try start(try self.images(at: feed.places, access))
            for (place, fields) in feed.fields.enumerated() {
              let schema = try self.models.schema.model(named: feed.places[place].model)
              let interest = ChangeBroker.Interest(
                model: schema.name, records: .one(feed.places[place].key, of: schema),
                fields: fields)
              feed.end(by: self.broker.add(feed.observer(of: place, interest: interest)))
            }
          }
        }
      },
      report: { [weak self] error in self?.report(StoreError(reporting: error)) })
  }

  /// - Throws: ``StoreError`` with code `rejected` when `gate` is not met.
  func check(_ gate: Gate, in transaction: borrowing Transaction) throws {
    let access = transaction.access
    let (verdict, failed) = try gate.verdict { store, places in
      store.identity == number ? try images(at: places, access) : try store.read(places)
    }
    guard !verdict.isValid else { return }
    throw StoreError(rejecting: [gate.violation(of: failed)], count: 1)
  }

  private func images(
    at places: [GatePlace], _ access: TransactionAccess
  ) throws -> [[SQLValue]?] {
    try places.map { place in
      try access.record(try models.schema.model(named: place.model), key: place.key)?.values
    }
  }
}
