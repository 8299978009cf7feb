extension Store {
  /// Returns one field of one record as a publisher of values that also accepts values.
  ///
  /// - Parameter key: The record's key; it need not exist yet.
  /// - Throws: ``StoreError`` with code `unknownModel`, `unknownField`, `invalidValue` or
  ///   `unsupportedSchema` when the field cannot be observed.
  public func subject<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, of key: M.Key
  ) throws -> FieldSubject<M, Value> {
    let observed = Observed.field(field, of: key)
    let path = try observed.content.get().whole.path
    let engine = try open
    _ = try engine.observedSchema(M.self)
    let place = Wave.Place(store: engine.number, path: path)
    return FieldSubject(
      place: place, calls: engine.calls,
      write: { [weak lease] value in
        try lease.openForWriting.write { tx in try tx.set(field, to: value, for: key) }
      },
      writeLater: { [weak lease, report = lease.scope.report] value in
        do {
          let engine = try lease.openForWriting
          let version = try await engine.commitOnQueue { tx in
            try tx.set(field, to: value, for: key)
          }
          await engine.broker.delivered()
          return version
        } catch let error as StoreError where error.code == .recordNotFound {
          // A closed store cannot store the value.
        } catch {
          report(StoreError(reporting: error))
        }
        return nil
      },
      loop: { [weak lease] in
        // A loop over a subject of a closed store finishes, like a loop that began before closing.
        guard let lease, !lease.scope.hasEnded else { return nil }
        return try lease.sequence(observed, options: [], coalescing: .standard)
      },
      begin: { [weak lease] body in
        guard let lease else { throw StoreLease.closed }
        // Not `.latest`: if others undo a value at once, both changes must be reported.
        return try lease.start(observed, options: .initial, coalescing: .standard) { change in
          if let value = change.new { body(value, change.version) }
        }
      },
      stream: ValueStream(report: lease.scope.report) { [weak lease] body in
        guard let lease else { throw StoreLease.closed }
        return try lease.start(observed, options: [], coalescing: .standard) { change in
          guard let value = change.new else { return }
          Wave.$current.withValue(Wave.current.passing(place)) { body(value) }
        }
      })
  }
}
