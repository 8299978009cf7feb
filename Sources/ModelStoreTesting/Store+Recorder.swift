public import ModelStore

extension Store {
  /// Records the changes of one field of one record, from now on.
  ///
  /// ```swift
  /// let titles = try store.recorder(of: \Book.title, of: 1)
  /// try store.write { tx in try tx.set(\Book.title, to: "Voices", for: 1) }
  /// #expect(titles.takeAll() == [RecordedChange(old: "Gifts", new: "Voices")])
  /// ```
  ///
  /// - Parameters:
  ///   - field: The field.
  ///   - key: The record, which need not exist yet.
  public func recorder<M: Model, Value: ColumnValue>(
    of field: any KeyPath<M, Value> & Sendable, of key: M.Key
  ) throws -> EventRecorder<RecordedChange<Value>> {
    let recorder = EventRecorder<RecordedChange<Value>>(self)
    recorder.keep(
      try observe(.field(field, of: key), coalescing: .every) { [weak recorder] event in
        recorder?.record(
          RecordedChange(
            old: event.old, new: event.new, origin: event.origin, isReset: event.isReset))
      })
    return recorder
  }

  /// Records the changes of one record, from now on.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - key: The record, which need not exist yet.
  public func recorder<M: Model>(
    of model: M.Type, key: M.Key
  ) throws -> EventRecorder<RecordedChange<M>> {
    let recorder = EventRecorder<RecordedChange<M>>(self)
    recorder.keep(
      try observe(.record(model, key), coalescing: .every) { [weak recorder] event in
        recorder?.record(
          RecordedChange(
            old: event.old, new: event.new, origin: event.origin, isReset: event.isReset))
      })
    return recorder
  }

  /// Records what each commit does to the records of a model, from now on: one array for each
  /// commit, in the order in which the transaction first touched the records.
  ///
  /// A commit that cannot be followed is an empty array, or one that lacks changes.
  public func recorder<M: Model>(
    of model: M.Type
  ) throws -> EventRecorder<[RecordedChange<M>]> {
    let recorder = EventRecorder<[RecordedChange<M>]>(self)
    recorder.keep(
      try observe(.model(model), coalescing: .every) { [weak recorder] event in
        recorder?.record(
          event.changes.map { change in
            RecordedChange(
              old: change.old, new: change.new, origin: change.origin, isReset: event.isReset)
          })
      })
    return recorder
  }

  /// Records what each commit does to the result of a query, from now on: one array for each commit
  /// that changes the result.
  ///
  /// ```swift
  /// let titles = try store.recorder(of: Book.all.order { $0.title })
  /// try store.write { tx in try tx.insert(book) }
  /// #expect(titles.takeAll() == [[.inserted(book, at: 0)]])
  /// ```
  public func recorder<Element: Fetchable>(
    of query: StoreQuery<Element>
  ) throws -> EventRecorder<[RecordedRow<Element>]> {
    let recorder = EventRecorder<[RecordedRow<Element>]>(self)
    recorder.keep(
      try liveQuery(query).observe(coalescing: .every) { [weak recorder] changes in
        recorder?.record(RecordedRow.rows(of: changes))
      })
    return recorder
  }

  /// Records the changes of the result of `query`, as the synchronous form does. It blocks no
  /// thread while it reads the result.
  public func recorder<Element: Fetchable>(
    of query: StoreQuery<Element>
  ) async throws -> EventRecorder<[RecordedRow<Element>]> {
    let recorder = EventRecorder<[RecordedRow<Element>]>(self)
    recorder.keep(
      try await liveQuery(query).observe(coalescing: .every) { [weak recorder] changes in
        recorder?.record(RecordedRow.rows(of: changes))
      })
    return recorder
  }
}
