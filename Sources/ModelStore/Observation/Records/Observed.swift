/// A description of what to observe, with the type of its events: a field of a record, several
/// fields, a record, or a model. ``Store/observe(_:options:coalescing:_:)`` begins the observation.
///
/// ```swift
/// let title = Observed.field(\Album.title, of: 1)
/// ```
public struct Observed<Event: Sendable>: Sendable {
  let model: any Model.Type
  /// An invalid description is reported when an observation begins.
  let content: Result<Content, StoreError>

  struct Content: Sendable {
    /// Everything in one observation.
    var whole: RecordObservation<Event>
    /// One observation for each path, in the order given. A bag counts and removes these.
    var parts: [RecordObservation<Event>]
  }

  /// The observed paths: one for each field, otherwise one. Empty for an invalid description: a key
  /// path that is not a stored field, or a key that cannot be stored.
  package var paths: [ObservedPath] {
    switch content {
    case .success(let content): content.parts.map(\.path)
    case .failure: []
    }
  }

  /// The same, as bags distinguish them.
  var targets: Set<ObservedTarget> {
    switch content {
    case .success(let content): Set(content.parts.map(\.target))
    case .failure: []
    }
  }

  private init(_ model: any Model.Type, _ content: () throws(StoreError) -> Content) {
    self.model = model
    self.content = Result { () throws(StoreError) in try content() }
  }
}

extension Observed {
  /// Observes one field of one record.
  ///
  /// - Parameter key: The record's key; the record need not exist yet.
  public static func field<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, of key: M.Key
  ) -> Self where Event == FieldEvent<Value> {
    Self(M.self) { () throws(StoreError) in
      let index = try Self.index(of: field)
      let observation = RecordObservation(
        M.self, M.schema, key: try Self.values(key, of: M.self), order: [index],
        events: { commit, current in
          try commit.change(ofField: index, in: M.schema, current: current) {
            try Value(sqlValue: $0)
          }.map { [$0] } ?? []
        }, prior: \.prior)
      return Content(whole: observation, parts: [observation])
    }
  }

  /// Observes several fields of one record with one callback. It is called once for each of the
  /// fields that a commit changes.
  public static func fields<M: Model>(
    _ fields: [any PartialKeyPath<M> & Sendable], of key: M.Key
  ) -> Self where Event == NamedFieldEvent<M> {
    Self(M.self) { () throws(StoreError) in
      var indices: [Int] = []
      for field in fields {
        let index = try Self.index(of: field)
        if !indices.contains(index) { indices.append(index) }
      }
      guard !indices.isEmpty else {
        throw StoreError(
          .misuse, "Name at least one field of \(M.schema.name) to observe.", model: M.schema.name)
      }
      let key = try Self.values(key, of: M.self)
      return Content(
        whole: observation(of: indices, key), parts: indices.map { observation(of: [$0], key) })
    }
  }

  private static func observation<M: Model>(
    of indices: [Int], _ key: [SQLValue]
  ) -> RecordObservation<Event> where Event == NamedFieldEvent<M> {
    RecordObservation(
      M.self, M.schema, key: key, order: indices,
      events: { commit, current in
        try indices.compactMap { index in
          try commit.change(ofField: index, in: M.schema, current: current) { $0 }.map {
            NamedFieldEvent(
              field: M.definition.path(at: index), name: M.schema.fields[index].name, change: $0)
          }
        }
      },
      prior: { event in
        NamedFieldEvent(field: event.field, name: event.name, change: event.change.prior)
      })
  }

  /// Observes one record. With `fields`, you receive only commits that change one of these fields,
  /// and ``RecordEvent/fields`` lists only these.
  public static func record<M: Model>(
    _ model: M.Type, _ key: M.Key, fields: [any PartialKeyPath<M> & Sendable] = []
  ) -> Self where Event == RecordEvent<M> {
    Self(M.self) { () throws(StoreError) in
      var indices: Set<Int> = []
      for field in fields { indices.insert(try Self.index(of: field)) }
      let names = indices.isEmpty ? nil : Set(indices.map { M.schema.fields[$0].name })
      let observation = RecordObservation<Event>(
        M.self, M.schema, key: try Self.values(key, of: M.self), order: nil,
        filter: indices.isEmpty ? nil : indices,
        events: { commit, current in
          try commit.recordChange(current: current, fields: names).map { [$0] } ?? []
        },
        prior: \.prior)
      return Content(whole: observation, parts: [observation])
    }
  }

  /// Observes all records of a model. It has no initial event and takes no options. For the
  /// existing records, use a ``LiveQuery``.
  public static func model<M: Model>(_ model: M.Type) -> Self where Event == ModelEvent<M> {
    Self(M.self) { () throws(StoreError) in
      let observation = RecordObservation<Event>(
        M.self, M.schema, key: nil, order: nil,
        events: { commit, _ in
          [
            ModelEvent(
              changes: try commit.changes.map { try ModelChange($0) },
              version: commit.version, isReset: commit.isReset)
          ]
        }, prior: nil)
      return Content(whole: observation, parts: [observation])
    }
  }

  private static func index<M: Model>(
    of field: any PartialKeyPath<M> & Sendable
  ) throws(StoreError) -> Int {
    guard let index = M.definition.fieldIndex(of: field) else {
      throw StoreError(
        .unknownField, M.definition.notStored(field), model: M.schema.name)
    }
    return index
  }

  private static func values<M: Model>(
    _ key: M.Key, of model: M.Type
  ) throws(StoreError) -> [SQLValue] {
    let values: [SQLValue]
    do {
      values = try key.sqlValues()
    } catch {
      throw StoreError(
        .invalidValue, "\(M.schema.name): the key cannot be stored: \(error).",
        model: M.schema.name)
    }
    guard values.count == M.schema.key.count else {
      throw StoreError(
        .invalidValue,
        "A key of \(M.schema.name) has \(M.schema.key.count) values; got \(values.count).",
        model: M.schema.name)
    }
    return values
  }
}
