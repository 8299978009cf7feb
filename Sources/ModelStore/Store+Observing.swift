internal import Synchronization

extension Store {
  /// Tells each change of one field of one record, from now on.
  ///
  /// - Parameters:
  ///   - key: The record's key; it need not exist yet.
  ///   - body: Called on the store's delivery queue, once for each commit in which the field
  ///     differs, in commit order. It may write, observe and cancel.
  /// - Returns: Keep it: dropping it ends the observation.
  public func observe<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, of key: M.Key,
    _ body: @escaping @Sendable (FieldChange<Value>) -> Void
  ) throws -> Subscription {
    let schema = try core.models.statements(for: M.self).schema
    guard let index = M.definition.fieldIndex(of: field) else {
      throw StoreError(
        .unknownField, "\(field) is no stored field of \(schema.name).", model: schema.name)
    }
    let observed = try values(key)
    return observe(schema, key: observed, fields: [index]) { core, commit in
      guard !commit.isReset else {
        let current = try core.currentImage(schema, key: observed)
        return body(
          FieldChange(
            old: nil, new: try current.map { try Value(sqlValue: $0[index]) }, origin: .foreign,
            version: commit.changes.version, isReset: true))
      }
      guard let change = commit.changes.changes.first else { return }
      let changed = change.fields.first { $0.name == schema.fields[index].name }
      if change.operation == .update, changed == nil { return }
      body(
        FieldChange(
          old: try change.old.map { try Value(sqlValue: $0[index]) },
          new: try change.new.map { try Value(sqlValue: $0[index]) },
          origin: changed?.origin ?? change.origin, version: commit.changes.version,
          isReset: false))
    }
  }

  /// Tells each change of one record, from now on; with `fields`, only commits in which one of
  /// them differs.
  ///
  /// - Parameter body: As in ``observe(_:of:_:)-(_,M.Key,_)``.
  public func observe<M: Model>(
    _ model: M.Type, of key: M.Key, fields: [any PartialKeyPath<M> & Sendable] = [],
    _ body: @escaping @Sendable (ObservedChange<M>) -> Void
  ) throws -> Subscription {
    let schema = try core.models.statements(for: M.self).schema
    let indices = try Set(
      fields.map { field in
        guard let index = M.definition.fieldIndex(of: field) else {
          throw StoreError(
            .unknownField, "\(field) is no stored field of \(schema.name).", model: schema.name)
        }
        return index
      })
    let names = indices.isEmpty ? nil : Set(indices.map { schema.fields[$0].name })
    let observed = try values(key)
    return observe(schema, key: observed, fields: nil, names: names) { core, commit in
      guard !commit.isReset else {
        let current = try core.currentImage(schema, key: observed)
        return body(
          ObservedChange(
            old: nil, new: try current.map { try M(row: RowView(image: $0)) }, fields: [],
            origin: .foreign, version: commit.changes.version, isReset: true))
      }
      guard let change = commit.changes.changes.first else { return }
      body(
        ObservedChange(
          old: try change.old.map { try M(row: RowView(image: $0)) },
          new: try change.new.map { try M(row: RowView(image: $0)) }, fields: change.fields,
          origin: change.origin, version: commit.changes.version, isReset: false))
    }
  }

  /// Tells each commit that changes records of a model, from now on.
  ///
  /// - Parameter body: As in ``observe(_:of:_:)-(_,M.Key,_)``.
  public func observe<M: Model>(
    _ model: M.Type, _ body: @escaping @Sendable (ModelChanges<M>) -> Void
  ) throws -> Subscription {
    let schema = try core.models.statements(for: M.self).schema
    return observe(schema, key: nil, fields: nil) { _, commit in
      body(
        ModelChanges(
          changes: try commit.changes.changes.map { try ModelChange($0) },
          version: commit.changes.version, isReset: commit.isReset))
    }
  }

  private func observe(
    _ schema: ModelSchema, key: [SQLValue]?, fields: Set<Int>?, names: Set<String>? = nil,
    _ receive: @escaping @Sendable (StoreCore, ChangeBroker.Commit) throws -> Void
  ) -> Subscription {
    let counted = names ?? fields.map { Set($0.map { schema.fields[$0].name }) }
    let observer = RecordObserver(
      interest: ChangeBroker.Interest(model: schema.name, key: key, fields: fields),
      schema: schema, names: counted, capacity: core.configuration.mailboxCapacity
    ) { [weak core] commit in
      guard let core else { return }
      core.reporting(schema) { try receive(core, commit) }
    }
    let end = core.broker.add(observer)
    return Subscription {
      observer.end()
      end()
    }
  }

  private func values<Key: ModelKey>(_ key: Key) throws -> [SQLValue] {
    do {
      return try key.sqlValues()
    } catch {
      throw StoreError(.invalidValue, "The key cannot be stored: \(error).")
    }
  }

  /// Waits until every commit so far has been delivered to every callback. Not for use inside one.
  public func waitForDelivery() {
    core.broker.drain()
  }

  /// Looks whether another process has written since, and tells observers if so. Every write does
  /// this too.
  public func refresh() throws {
    try core.writer.sync { writer in
      if try writer.noticeForeignCommit() { core.broker.publish([], isReset: true) }
    }
  }
}

extension StoreCore {
  /// The record as of now, in field order; nil when there is none.
  func currentImage(_ schema: ModelSchema, key: [SQLValue]) throws -> [SQLValue]? {
    try readers.sync { connection in
      try read(connection) { try $0.find(schema, key: key)?.values }
    }
  }

  /// Runs delivery code; what it throws goes to the store's `onError`.
  func reporting(_ schema: ModelSchema, _ body: () throws -> Void) {
    do {
      try body()
    } catch let error as ColumnError {
      report(StoreError(error, reading: schema))
    } catch {
      report(error as? StoreError ?? StoreError(.database, "\(error)"))
    }
  }
}
