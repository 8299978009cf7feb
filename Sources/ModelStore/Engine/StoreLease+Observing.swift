// Reads for observations of records.
extension StoreEngine {
  /// Returns the schema of a model whose records can be observed.
  func observedSchema(_ model: any Model.Type) throws -> ModelSchema {
    let schema = try models.statements(for: model).schema
    guard schema.kind == .table else {
      throw StoreError(
        .unsupportedSchema,
        "\(schema.name) is a view, which cannot be observed. Observe the tables that it reads.",
        model: schema.name)
    }
    return schema
  }

  /// Calls `body` with the current record. No commit can happen in between.
  func atRest<Result>(
    _ key: [SQLValue]?, of schema: ModelSchema, _ body: ([SQLValue]?) throws -> Result
  ) throws -> Result {
    try atPublishedState { writer in
      try body(try self.record(schema, key, on: writer.connection))
    }
  }

  /// Returns the current record.
  fileprivate func current(_ key: [SQLValue]?, of schema: ModelSchema) async throws -> [SQLValue]? {
    try await connections.readers.async { try self.record(schema, key, on: $0) }
  }

  /// Returns the current record to an observer that is being notified of a reset.
  func currentForDelivery(_ key: [SQLValue]?, of schema: ModelSchema) throws -> [SQLValue]? {
    try connections.delivery.sync { try self.record(schema, key, on: $0) }
  }

  private func record(
    _ schema: ModelSchema, _ key: [SQLValue]?, on connection: Connection
  ) throws -> [SQLValue]? {
    guard let key else { return nil }
    return try _TransactionAccess(
      connection: connection, models: models, capture: nil, isWritable: false
    ).record(schema, key: key)?.values
  }
}

// Creating the broker's observer for a description of an observation.
extension StoreLease {
  func makeObserver<Event>(
    _ observation: RecordObservation<Event>, of schema: ModelSchema,
    options: ObservationOptions = [], coalescing: CoalescingPolicy
  ) -> RecordObserver {
    RecordObserver(
      fields(of: observation, schema), of: observation.key, in: scope, options: options,
      coalescing: coalescing)
  }

  private func fields<Event>(
    of observation: RecordObservation<Event>, _ schema: ModelSchema
  ) -> ObservedFields {
    engine.observedFields.fields(
      schema, fields: observation.fields, counted: observation.counted)
  }

  /// Makes the delivery queue call `body` with the events that `observer` receives.
  func connect<Event>(
    _ observer: RecordObserver, to observation: RecordObservation<Event>,
    options: ObservationOptions, _ body: @escaping @Sendable (Event) -> Void
  ) {
    observer.whenReady(
      EventTeller(body: body, telling: tellings.telling(observation, options, self)))
  }

  /// Adds `observer` to the broker. With the option `initial`, it first receives the current
  /// record. If reading the record fails, the observer ends.
  func enter<Event>(
    _ observer: RecordObserver, for observation: RecordObservation<Event>,
    options: ObservationOptions
  ) throws {
    guard options.contains(.initial) else {
      observer.enter(engine.broker)
      return
    }
    do {
      try engine.atRest(observation.key, of: observer.fields.schema) { image in
        let version = self.engine.broker.version
        let outcome = observer.begin(with: image, version: version)
        observer.enter(self.engine.broker)
        self.engine.broker.enqueue(for: outcome) { observer.deliver(upTo: version) }
      }
    } catch {
      observer.end()
      throw error
    }
  }
}

// Observations by callback or sequence.
extension StoreLease {
  func start<Event>(
    _ observed: Observed<Event>, options: ObservationOptions, coalescing: CoalescingPolicy,
    _ body: @escaping @Sendable (Event) -> Void
  ) throws -> ObservationToken {
    let (observation, schema) = try resolve(observed, options, by: .callback)
    let observer = makeObserver(observation, of: schema, options: options, coalescing: coalescing)
    connect(observer, to: observation, options: options, body)
    try enter(observer, for: observation, options: options)
    return ObservationToken(observer)
  }

  func sequence<Event>(
    _ observed: Observed<Event>, options: ObservationOptions, coalescing: CoalescingPolicy
  ) throws -> ChangeSequence<Event> {
    let (observation, schema) = try resolve(observed, options, by: .loop)
    let observer = makeObserver(observation, of: schema, coalescing: coalescing)
    try enter(observer, for: observation, options: options)
    let waiting = WaitingEvents<Event>()
    let telling = tellings.telling(observation, options, self)
    return ChangeSequence(
      subscription: ObservationToken(observer), report: scope.report
    ) { [weak self] in
      if let event = waiting.next() { return event }
      while let commit = await observer.nextCommit() {
        // The current record can only be read while the store is open.
        let engine = self?.scope.hasEnded == false ? self?.engine : nil
        guard engine != nil || !commit.isReset else { return nil }
        do {
          let current =
            commit.isReset ? try await engine?.current(observation.key, of: schema) : nil
          waiting.put(try telling.events(of: commit, current: current))
        } catch let error as ColumnError {
          throw StoreError(error, reading: schema)
        } catch  where Task.isCancelled || self?.scope.hasEnded ?? true {
          return nil
        }
        if let event = waiting.next() { return event }
      }
      return nil
    }
  }

  /// Returns the observation and its schema.
  ///
  /// - Throws: ``StoreError`` if this store cannot observe it, or not with these options.
  private func resolve<Event>(
    _ observed: Observed<Event>, _ options: ObservationOptions, by taker: ObservationOptions.Taker
  ) throws -> (RecordObservation<Event>, ModelSchema) {
    let observation = try observed.content.get().whole
    let schema = try open.observedSchema(observed.model)
    try options.check(allowing: observation.options, by: taker, of: schema.name)
    return (observation, schema)
  }
}

// Observations in bags.
extension StoreLease {
  func observe<Event>(
    _ observed: Observed<Event>, in bag: ObservationBag, context: String? = nil,
    options: ObservationOptions = [], coalescing: CoalescingPolicy = .standard,
    ifPresent duplicate: ObservationBag.Duplicate = .keep,
    _ body: @escaping @Sendable (Event) -> Void
  ) throws {
    let parts = try observed.content.get().parts
    let schema = try open.observedSchema(observed.model)
    for part in parts {
      try options.check(allowing: part.options, by: .callback, of: schema.name)
    }
    var added: Set<ObservationBag.Identity> = []
    do {
      for part in parts {
        let identity = ObservationBag.Identity(
          store: scope.number, target: part.target, context: context)
        let observer = BagObserver(
          fields(of: part, schema), of: part.key, in: scope, bag: bag, context: context,
          options: options, coalescing: coalescing)
        connect(observer, to: part, options: options, body)
        if let present = bag.add(observer, as: identity) {
          if duplicate == .replace {
            try replace(present, for: part, options: options, coalescing: coalescing, body)
          }
        } else {
          added.insert(identity)
          try enter(observer, for: part, options: options)
        }
      }
    } catch {
      bag.end(Set(added.map(\.target))) { added.contains($0) }
      throw error
    }
  }

  /// Makes `body` replace the present callback from now on, with its own options and backlog.
  private func replace<Event>(
    _ present: RecordObserver, for observation: RecordObservation<Event>,
    options: ObservationOptions, coalescing: CoalescingPolicy,
    _ body: @escaping @Sendable (Event) -> Void
  ) throws {
    guard options.contains(.initial) else {
      present.become(options, coalescing)
      present.forget()
      connect(present, to: observation, options: options, body)
      return
    }
    try engine.atRest(observation.key, of: present.fields.schema) { image in
      present.become(options, coalescing)
      present.forget()
      self.connect(present, to: observation, options: options, body)
      let version = self.engine.broker.version
      let outcome = present.begin(with: image, version: version)
      self.engine.broker.enqueue(for: outcome) { present.deliver(upTo: version) }
    }
  }
}
