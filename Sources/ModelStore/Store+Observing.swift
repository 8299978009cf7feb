// One field of one record.
extension Store {
  /// Tells each change of one field of one record, from now on.
  ///
  /// - Parameters:
  ///   - key: The record's key; it need not exist yet.
  ///   - body: Called on the store's delivery queue, once for each commit in which the field
  ///     differs, in commit order; several commits come as one when it falls behind by more than
  ///     the mailbox's capacity. It may write, observe and cancel.
  /// - Returns: Keep it: dropping it ends the observation.
  public func observe<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, of key: M.Key,
    _ body: @escaping @Sendable (FieldChange<Value>) -> Void
  ) throws -> Subscription {
    try observation(field, of: key).start(on: core, body)
  }

  /// The changes of one field of one record from now on, for one `for try await` loop.
  public func changes<M: Model, Value: ColumnValue>(
    of field: any KeyPath<M, Value> & Sendable, of key: M.Key
  ) throws -> ObservedChanges<FieldChange<Value>> {
    try observation(field, of: key).sequence(on: core)
  }

  private func observation<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, of key: M.Key
  ) throws -> RecordObservation<FieldChange<Value>> {
    let schema = try observedSchema(M.self)
    let index = try Self.index(of: field, in: schema)
    let name = schema.fields[index].name
    return RecordObservation(
      schema: schema, key: try Self.values(key, of: schema), fields: [index]
    ) { commit, current in
      let version = commit.changes.version
      if commit.isReset {
        return FieldChange(
          old: nil, new: try current.map { try Value(sqlValue: $0[index]) }, origin: .foreign,
          version: version, isReset: true)
      }
      guard let change = commit.changes.changes.first else { return nil }
      let changed = change.fields.first { $0.name == name }
      if change.operation == .update, changed == nil { return nil }
      return FieldChange(
        old: try change.old.map { try Value(sqlValue: $0[index]) },
        new: try change.new.map { try Value(sqlValue: $0[index]) },
        origin: changed?.origin ?? change.origin, version: version, isReset: false)
    }
  }
}

// One record.
extension Store {
  /// Tells each change of one record, from now on; with `fields`, only those in which one of them
  /// differs.
  ///
  /// - Parameter body: As for one field.
  public func observe<M: Model>(
    _ model: M.Type, of key: M.Key, fields: [any PartialKeyPath<M> & Sendable] = [],
    _ body: @escaping @Sendable (ObservedChange<M>) -> Void
  ) throws -> Subscription {
    try observation(model, of: key, fields: fields).start(on: core, body)
  }

  /// The changes of one record from now on, for one `for try await` loop; with `fields`, only
  /// those in which one of them differs.
  public func changes<M: Model>(
    of model: M.Type, key: M.Key, fields: [any PartialKeyPath<M> & Sendable] = []
  ) throws -> ObservedChanges<ObservedChange<M>> {
    try observation(model, of: key, fields: fields).sequence(on: core)
  }

  private func observation<M: Model>(
    _ model: M.Type, of key: M.Key, fields: [any PartialKeyPath<M> & Sendable]
  ) throws -> RecordObservation<ObservedChange<M>> {
    let schema = try observedSchema(M.self)
    let indices = try fields.map { try Self.index(of: $0, in: schema) }
    return RecordObservation(
      schema: schema, key: try Self.values(key, of: schema), fields: nil,
      filter: indices.isEmpty ? nil : Set(indices)
    ) { commit, current in
      let version = commit.changes.version
      if commit.isReset {
        return ObservedChange(
          old: nil, new: try current.map { try M(row: RowView(image: $0)) }, fields: [],
          origin: .foreign, version: version, isReset: true)
      }
      guard let change = commit.changes.changes.first else { return nil }
      return ObservedChange(
        old: try change.old.map { try M(row: RowView(image: $0)) },
        new: try change.new.map { try M(row: RowView(image: $0)) }, fields: change.fields,
        origin: change.origin, version: version, isReset: false)
    }
  }
}

// All records of a model.
extension Store {
  /// Tells each commit that changes records of a model, from now on.
  ///
  /// - Parameter body: As for one field.
  public func observe<M: Model>(
    _ model: M.Type, _ body: @escaping @Sendable (ModelChanges<M>) -> Void
  ) throws -> Subscription {
    try observation(model).start(on: core, body)
  }

  /// The commits that change records of a model from now on, for one `for try await` loop.
  public func changes<M: Model>(of model: M.Type) throws -> ObservedChanges<ModelChanges<M>> {
    try observation(model).sequence(on: core)
  }

  private func observation<M: Model>(_ model: M.Type) throws -> RecordObservation<ModelChanges<M>> {
    let schema = try observedSchema(M.self)
    return RecordObservation(schema: schema, key: nil, fields: nil) { commit, _ in
      ModelChanges(
        changes: try commit.changes.changes.map { try ModelChange($0) },
        version: commit.changes.version, isReset: commit.isReset)
    }
  }
}

extension Store {
  /// The schema of a model whose records can be observed.
  private func observedSchema<M: Model>(_ model: M.Type) throws -> ModelSchema {
    let schema = try core.models.statements(for: model).schema
    guard schema.kind == .table else {
      throw StoreError(
        .unsupportedSchema,
        "\(schema.name) is a view, whose records nobody writes; observe the tables that it reads.",
        model: schema.name)
    }
    return schema
  }

  private static func index<M: Model>(
    of field: any PartialKeyPath<M> & Sendable, in schema: ModelSchema
  ) throws -> Int {
    guard let index = M.definition.fieldIndex(of: field) else {
      throw StoreError(
        .unknownField, "\(field) is no stored field of \(schema.name).", model: schema.name)
    }
    return index
  }

  private static func values<Key: ModelKey>(_ key: Key, of schema: ModelSchema) throws -> [SQLValue]
  {
    let values: [SQLValue]
    do {
      values = try key.sqlValues()
    } catch {
      throw StoreError(
        .invalidValue, "\(schema.name): the key cannot be stored: \(error).", model: schema.name)
    }
    try TransactionAccess.check(values, of: schema)
    return values
  }

  /// Waits until every commit so far has been delivered to every callback.
  ///
  /// - Precondition: Neither inside a callback nor inside a write, where a callback that writes
  ///   would wait for the caller.
  public func waitForDelivery() {
    precondition(!core.writer.isCurrent, "Waiting for delivery inside a write may never end.")
    core.broker.drain()
  }

  /// Looks whether another process has written since, and tells observers if so; reads live queries
  /// again that could not be read after an earlier commit. Every write does this too.
  public func refresh() throws {
    try core.writer.sync { writer in
      try core.publishWhatOthersDid(&writer)
    }
  }
}

/// What is watched, and how a commit becomes the event that the caller sees.
private struct RecordObservation<Event: Sendable>: Sendable {
  let schema: ModelSchema
  /// One record, or nil for all.
  let key: [SQLValue]?
  /// The fields whose values the events show; nil for all.
  let fields: Set<Int>?
  /// The fields that an update must touch to count; nil for those in `fields`.
  var filter: Set<Int>?
  /// - Parameter current: The record as it is now; given only after a reset.
  let event: @Sendable (ChangeBroker.Commit, _ current: [SQLValue]?) throws -> Event?

  func start(
    on core: StoreCore, _ body: @escaping @Sendable (Event) -> Void
  ) -> Subscription {
    let observer = makeObserver(core)
    observer.whenReady { [weak core] commit in
      guard let core else { return }
      core.reporting(schema) {
        let current = commit.isReset ? try currentRecord(core) : nil
        if let event = try event(commit, current) { body(event) }
      }
    }
    return register(observer, on: core)
  }

  func sequence(on core: StoreCore) -> ObservedChanges<Event> {
    let observer = makeObserver(core)
    return ObservedChanges(subscription: register(observer, on: core)) { [weak core] in
      while let commit = await observer.next(), let core {
        do {
          let current = commit.isReset ? try await currentRecord(core) : nil
          if let event = try event(commit, current) { return event }
        } catch let error as ColumnError {
          throw StoreError(error, reading: schema)
        }
      }
      return nil
    }
  }

  private func makeObserver(_ core: StoreCore) -> RecordObserver {
    let counted = filter ?? fields
    return RecordObserver(
      interest: ChangeBroker.Interest(
        model: schema.name, records: key.map { .one($0, of: schema) } ?? .all, fields: fields),
      schema: schema, names: counted.map { Set($0.map { schema.fields[$0].name }) },
      capacity: core.configuration.mailboxCapacity)
  }

  private func register(_ observer: RecordObserver, on core: StoreCore) -> Subscription {
    let end = core.broker.add(observer)
    return Subscription {
      observer.end()
      end()
    }
  }

  private func currentRecord(_ core: StoreCore) throws -> [SQLValue]? {
    guard let key else { return nil }
    return try core.readers.sync { connection in
      try core.read(connection) { try $0.find(schema, key: key)?.values }
    }
  }

  private func currentRecord(_ core: StoreCore) async throws -> [SQLValue]? {
    guard let key else { return nil }
    return try await core.readers.async { connection in
      try core.read(connection) { try $0.find(schema, key: key)?.values }
    }
  }
}

extension StoreCore {
  /// Runs delivery code; what it throws goes to the store's `onError`.
  fileprivate func reporting(_ schema: ModelSchema, _ body: () throws -> Void) {
    do {
      try body()
    } catch let error as ColumnError {
      report(StoreError(error, reading: schema))
    } catch {
      report(StoreError(reporting: error))
    }
  }
}
