extension Store {
  /// Keeps one record up to date from now on, for the standard library's Observation.
  ///
  /// - Parameter key: The record's key; it need not exist yet.
  /// - Throws: ``StoreError`` with code `misuse` inside a write, where the record may still change.
  /// - Complexity: Reads the record once, while writers wait.
  public func liveRecord<M: Model>(_ model: M.Type, _ key: M.Key) throws -> LiveRecord<M> {
    let engine = try open
    let schema = try engine.observedSchema(model)
    let observation = RecordObservation<LiveRecord<M>.State>(
      model, schema, key: try Observed.record(model, key).content.get().whole.key, order: nil,
      events: { commit, current in
        if commit.isReset { return [try LiveRecord.State(current)] }
        return try commit.changes.map { try LiveRecord.State($0.new) }
      }, prior: nil)
    let observer = lease.makeObserver(observation, of: schema, coalescing: .latest)
    return try engine.atRest(observation.key, of: schema) { image in
      let state: LiveRecord<M>.State
      do {
        state = try LiveRecord.State(image)
      } catch let error as ColumnError {
        throw StoreError(error, reading: schema)
      }
      let record = LiveRecord(
        key: key, state: state, registration: ObservationToken(observer))
      lease.connect(observer, to: observation, options: []) { [weak record] state in
        record?.follow(state)
      }
      observer.enter(engine.broker)
      return record
    }
  }

  /// Reads the records of `query` and keeps them up to date from now on, for the standard
  /// library's Observation.
  ///
  /// - Throws: ``StoreError`` as ``liveQuery(_:)``; `invalidValue` for a record that does not fit.
  /// - Complexity: As ``liveQuery(_:)``, and reads all records once more while writers wait. A list
  ///   for long results is a ``LiveQuery`` with a window.
  public func liveRecords<Element>(_ query: StoreQuery<Element>) throws -> LiveRecords<Element> {
    try LiveRecords(try liveQuery(query))
  }
}
