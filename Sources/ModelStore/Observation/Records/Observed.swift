/// Something to observe, and what its observers are told: a field of a record, several fields, a
/// record, or a model. It is a description; ``Store/observe(_:options:coalescing:_:)`` begins one.
///
/// ```swift
/// let title = Observed.field(\Album.title, of: 1)
/// ```
public struct Observed<Event: Sendable>: Sendable {
  let model: any Model.Type
  /// What cannot be described is refused when an observation begins.
  let content: Result<Content, StoreError>

  struct Content: Sendable {
    /// Everything in one observation.
    var whole: RecordObservation<Event>
    /// One for each path, in the order given: what a bag counts and removes.
    var parts: [RecordObservation<Event>]
  }

  /// The names of what is observed: one for each field, else one. Empty when it cannot be observed
  /// at all, because a key path is no stored field or a key cannot be stored.
  package var paths: [ObservedPath] {
    switch content {
    case .success(let content): content.parts.map(\.path)
    case .failure: []
    }
  }

  /// The same, as bags tell them apart.
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
  /// One field of one record.
  ///
  /// - Parameter key: The record's key; it need not exist yet.
  public static func field<M: Model, Value: ColumnValue>(
    _ field: any KeyPath<M, Value> & Sendable, of key: M.Key
  ) -> Self where Event == FieldEvent<Value> {
    Self(M.self) { () throws(StoreError) in
      let index = try Self.index(of: field)
      let observation = RecordObservation(
        M.schema, key: try Self.values(key, of: M.self), fields: [index],
        events: { commit, current in
          try commit.change(ofField: index, in: M.schema, current: current) {
            try Value(sqlValue: $0)
          }.map { [$0] } ?? []
        }, prior: \.prior)
      return Content(whole: observation, parts: [observation])
    }
  }

  /// Several fields of one record, for one callback that is told which field differs: once for each
  /// of them that a commit changes.
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
      M.schema, key: key, fields: Set(indices),
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

  /// One record; with `fields`, only the commits in which one of them differs, and of the fields
  /// that differ only those.
  public static func record<M: Model>(
    _ model: M.Type, _ key: M.Key, fields: [any PartialKeyPath<M> & Sendable] = []
  ) -> Self where Event == RecordEvent<M> {
    Self(M.self) { () throws(StoreError) in
      var indices: Set<Int> = []
      for field in fields { indices.insert(try Self.index(of: field)) }
      let names = indices.isEmpty ? nil : Set(indices.map { M.schema.fields[$0].name })
      let observation = RecordObservation<Event>(
        M.schema, key: try Self.values(key, of: M.self), fields: nil,
        filter: indices.isEmpty ? nil : indices,
        events: { commit, current in
          try commit.recordChange(current: current, fields: names).map { [$0] } ?? []
        },
        prior: \.prior)
      return Content(whole: observation, parts: [observation])
    }
  }

  /// All records of a model. It has no beginning to tell and takes no options; for the records
  /// there are, take a ``LiveQuery``.
  public static func model<M: Model>(_ model: M.Type) -> Self where Event == ModelEvent<M> {
    Self(M.self) { () throws(StoreError) in
      let observation = RecordObservation<Event>(
        M.schema, key: nil, fields: nil,
        events: { commit, _ in
          [
            ModelEvent(
              changes: try commit.changes.changes.map { try ModelChange($0) },
              version: commit.changes.version, isReset: commit.isReset)
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
