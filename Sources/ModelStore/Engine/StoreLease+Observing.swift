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

  fileprivate func record(
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
    registrant: RecordObserver.Registrant? = nil, options: ObservationOptions = [],
    coalescing: CoalescingPolicy
  ) -> RecordObserver {
    RecordObserver(
      engine.observedFields.fields(
        schema, fields: observation.fields, counted: observation.counted),
      of: observation.key, registrant: registrant,
      mailbox: Mailbox(scope, options: options, coalescing: coalescing))
  }

  /// Makes the delivery queue call `body` with the events that `observer` receives.
  func connect<Event>(
    _ observer: RecordObserver, to observation: RecordObservation<Event>,
    options: ObservationOptions, _ body: @escaping @Sendable (Event) -> Void
  ) {
    // Keeps only the necessary parts of the observation: there may be very many observers.
    let telling = Telling(observation, options)
    observer.whenReady { [weak self] part in
      guard let self else { return }
      let (commit, observer) = (part.commit, part.observer)
      let schema = observer.fields.schema
      Wave.$current.withValue(commit.wave.heard(at: observer.path)) {
        reporting(schema) {
          let current =
            commit.isReset
            ? try engine.connections.delivery.sync {
              try engine.record(schema, observer.key, on: $0)
            } : nil
          for event in try telling.events(of: commit, current: current) where !observer.isEnded {
            body(event)
          }
        }
      }
    }
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

  /// Runs delivery code, and passes its errors to the store's `onError`. It ignores the error of a
  /// closed store, because the callbacks of a closed store have ended.
  private func reporting(_ schema: ModelSchema, _ body: () throws -> Void) {
    do {
      try body()
    } catch let error as ColumnError {
      scope.report(StoreError(error, reading: schema))
    } catch  where scope.hasEnded {
      return
    } catch {
      scope.report(StoreError(reporting: error))
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
    return ObservationToken(observer.mailbox) { observer.end() }
  }

  func sequence<Event>(
    _ observed: Observed<Event>, options: ObservationOptions, coalescing: CoalescingPolicy
  ) throws -> ChangeSequence<Event> {
    let (observation, schema) = try resolve(observed, options, by: .loop)
    let observer = makeObserver(observation, of: schema, coalescing: coalescing)
    try enter(observer, for: observation, options: options)
    let waiting = WaitingEvents<Event>()
    let telling = Telling(observation, options)
    return ChangeSequence(
      subscription: ObservationToken(observer.mailbox) { observer.end() }, report: scope.report
    ) { [weak self] in
      if let event = waiting.next() { return event }
      while let commit = await observer.next() {
        // The current record can only be read while the store is open.
        let engine = self?.scope.hasEnded == false ? self?.engine : nil
        guard engine != nil || !commit.isReset else { return nil }
        do {
          let current =
            commit.isReset ? try await engine?.current(observation.key, of: schema) : nil
          waiting.put(try telling.events(of: commit, current: current))
        } catch let error as ColumnError {
          throw StoreError(error, reading: schema)
        } catch  where self?.scope.hasEnded ?? true {
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
        let observer = makeObserver(
          part, of: schema, registrant: RecordObserver.Registrant(bag: bag, context: context),
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
      present.mailbox.become(options, coalescing)
      present.forget()
      connect(present, to: observation, options: options, body)
      return
    }
    try engine.atRest(observation.key, of: present.fields.schema) { image in
      present.mailbox.become(options, coalescing)
      present.forget()
      self.connect(present, to: observation, options: options, body)
      let version = self.engine.broker.version
      let outcome = present.begin(with: image, version: version)
      self.engine.broker.enqueue(for: outcome) { present.deliver(upTo: version) }
    }
  }
}

/// The conversion of commits into the events of one observer.
private struct Telling<Event: Sendable>: Sendable {
  private let events: @Sendable (ChangeBroker.Commit, [SQLValue]?) throws -> [Event]
  /// Returns the event that precedes an event; nil if it was not requested.
  private let prior: (@Sendable (Event) -> Event)?

  init(_ observation: RecordObservation<Event>, _ options: ObservationOptions) {
    events = observation.events
    prior = options.contains(.prior) ? observation.prior : nil
  }

  /// Returns the events of a commit.
  ///
  /// - Parameter current: The current record; passed only after a resync.
  func events(of commit: ChangeBroker.Commit, current: [SQLValue]?) throws -> [Event] {
    let events = try events(commit, current)
    guard let prior, !commit.isInitial else { return events }
    return events.flatMap { [prior($0), $0] }
  }
}
