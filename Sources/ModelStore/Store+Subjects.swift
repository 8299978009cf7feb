extension Store {
  /// One field of one record as a source of values and a place to send them to.
  ///
  /// - Parameter key: The record's key; it need not exist yet.
  /// - Throws: ``StoreError`` with code `unknownModel`, `unknownField`, `invalidValue` or
  ///   `unsupportedSchema` when the field cannot be observed.
  public func subject<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, of key: M.Key
  ) throws -> FieldSubject<M, Value> {
    let observed = Observed.field(field, of: key)
    let path = try observed.content.get().whole.path
    _ = try core.observedSchema(M.self)
    let place = Wave.Place(store: core.number, path: path)
    let closed = StoreError(.misuse, "The store is closed.", model: M.schema.name)
    return FieldSubject(
      place: place,
      write: { [weak core] value in
        guard let core else { throw closed }
        try core.commit { tx in try tx.set(field, to: value, for: key) }
      },
      loop: { [weak core] in
        guard let core else { throw closed }
        return try core.sequence(observed, options: [], backlog: .standard)
      },
      stream: ValueStream(report: core.report) { [weak core] body in
        guard let core else { throw closed }
        return try core.start(observed, options: [], backlog: .standard) { change in
          guard let value = change.new else { return }
          Wave.$current.withValue(Wave.current.passing(place)) { body(value) }
        }
      })
  }
}
