// Asynchronous forms of calls that begin an observation and may read the file first.
//
// Parameters, results and errors are those of the synchronous forms. The observation has begun when
// the call returns. If you cancel the task before, the call throws `CancellationError`. The shorter
// forms without options read nothing and do not wait, so they have no asynchronous form.
extension Store {
  /// Calls `body` for each change of the observed thing, from now on.
  public func observe<Event>(
    _ observed: Observed<Event>, options: ObservationOptions = [],
    coalescing: CoalescingPolicy = .standard,
    _ body: @escaping @Sendable (Event) -> Void
  ) async throws -> ObservationToken {
    try await open.calls.run { [self] in
      try observe(observed, options: options, coalescing: coalescing, body)
    }
  }

  /// Returns the changes of the observed thing from now on, for one `for try await` loop.
  public func changes<Event>(
    of observed: Observed<Event>, options: ObservationOptions = [],
    coalescing: CoalescingPolicy = .standard
  ) async throws -> ChangeSequence<Event> {
    try await open.calls.run { [self] in
      try changes(of: observed, options: options, coalescing: coalescing)
    }
  }

  /// Calls `body` for each change of one field of several records.
  public func observe<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, ofEach keys: some Collection<M.Key>,
    options: ObservationOptions = [],
    _ body: @escaping @Sendable (M.Key, FieldEvent<Value>) -> Void
  ) async throws -> RecordWindow<M.Key> {
    let keys = Array(keys)
    return try await open.calls.run { [self] in
      try observe(field, ofEach: keys, options: options, body)
    }
  }

  /// Calls `body` for each change of the observed thing, for as long as `bag` exists.
  public func observe<Event>(
    _ observed: Observed<Event>, in bag: ObservationBag, context: String? = nil,
    options: ObservationOptions = [], coalescing: CoalescingPolicy = .standard,
    ifPresent duplicate: ObservationBag.Duplicate = .keep,
    _ body: @escaping @Sendable (Event) -> Void
  ) async throws {
    try await open.calls.run { [self] in
      try observe(
        observed, in: bag, context: context, options: options, coalescing: coalescing,
        ifPresent: duplicate, body)
    }
  }

  /// Calls `body` for each change of the observed thing, for as long as `owner` exists.
  public func observe<Event, Owner: AnyObject & Sendable>(
    _ observed: Observed<Event>, owner: Owner, context: String? = nil,
    options: ObservationOptions = [], coalescing: CoalescingPolicy = .standard,
    ifPresent duplicate: ObservationBag.Duplicate = .keep,
    _ body: @escaping @Sendable (Owner, Event) -> Void
  ) async throws {
    try await open.calls.run { [self] in
      try observe(
        observed, owner: owner, context: context, options: options, coalescing: coalescing,
        ifPresent: duplicate, body)
    }
  }

  /// Calls `body` once for each commit that changes at least one of several live queries and lists.
  public func observe<each Member: _LiveMember>(
    _ members: repeat each Member, options: ObservationOptions = [],
    coalescing: CoalescingPolicy = .standard,
    body: @escaping @Sendable (repeat (each Member).Changes?) -> Void
  ) async throws -> ObservationToken {
    try await open.calls.run { [self] in
      try observe(repeat each members, options: options, coalescing: coalescing, body: body)
    }
  }

  /// Returns the changes of several live queries and lists, for one `for try await` loop.
  public func changes<each Member: _LiveMember>(
    of members: repeat each Member, options: ObservationOptions = [],
    coalescing: CoalescingPolicy = .standard
  ) async throws -> ChangeSequence<(repeat (each Member).Changes?)> {
    try await open.calls.run { [self] in
      try changes(of: repeat each members, options: options, coalescing: coalescing)
    }
  }
}

// Live results.
extension Store {
  /// Keeps the result of `query` up to date from now on.
  public func liveQuery<Element>(
    _ query: StoreQuery<Element>
  ) async throws -> LiveQuery<Element> {
    try await open.calls.run { [self] in try liveQuery(query) }
  }

  /// Keeps one record up to date from now on, for the standard library's Observation.
  public func liveRecord<M: Model>(
    _ model: M.Type, _ key: M.Key
  ) async throws -> LiveRecord<M> {
    try await open.calls.run { [self] in try liveRecord(model, key) }
  }

  /// Reads the records of `query` and keeps them up to date from now on.
  public func liveRecords<Element>(
    _ query: StoreQuery<Element>
  ) async throws -> LiveRecords<Element> {
    try await open.calls.run { [self] in try liveRecords(query) }
  }

  /// Follows one record's list from now on.
  public func liveList<Owner: Model, Element: Model>(
    _ list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key,
    fields: [any PartialKeyPath<Element> & Sendable] = []
  ) async throws -> LiveList<Element.Key> {
    try await open.calls.run { [self] in try liveList(list, of: key, fields: fields) }
  }

  /// Follows one record's list from now on, by the names of the list and of its elements' fields.
  public func liveList(
    _ name: String, of owner: ModelSchema, key: SQLValue, fields: [String] = []
  ) async throws -> LiveList<SQLValue> {
    try await open.calls.run { [self] in
      try liveList(name, of: owner, key: key, fields: fields)
    }
  }

  /// Calls `body` for each change of one record's list, from now on.
  public func observe<Owner: Model, Element: Model>(
    list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key,
    fields: [any PartialKeyPath<Element> & Sendable] = [], options: ObservationOptions = [],
    coalescing: CoalescingPolicy = .standard,
    _ body: @escaping @Sendable (ListChanges<Element.Key>) -> Void
  ) async throws -> ObservationToken {
    try await open.calls.run { [self] in
      try observe(
        list: list, of: key, fields: fields, options: options, coalescing: coalescing, body)
    }
  }

  /// Returns the changes of one record's list from now on, for one `for try await` loop.
  public func changes<Owner: Model, Element: Model>(
    ofList list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key,
    fields: [any PartialKeyPath<Element> & Sendable] = [], options: ObservationOptions = [],
    coalescing: CoalescingPolicy = .standard
  ) async throws -> ChangeSequence<ListChanges<Element.Key>> {
    try await open.calls.run { [self] in
      try changes(
        ofList: list, of: key, fields: fields, options: options, coalescing: coalescing)
    }
  }
}
