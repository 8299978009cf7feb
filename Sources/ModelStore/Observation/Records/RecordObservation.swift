/// What to observe of one record or of all records of a model, and how a commit becomes the
/// caller's events.
struct RecordObservation<Event: Sendable>: Sendable {
  let path: ObservedPath
  /// The model's type. With the type of the events, ``order`` and ``counted``, it determines how a
  /// commit becomes events.
  let model: ObjectIdentifier
  /// The fields in the order in which they are reported, if they are reported one by one.
  let order: [Int]
  var target: ObservedTarget { ObservedTarget(path: path, isWhole: fields == nil) }
  /// The key of one record, or nil for all.
  var key: [SQLValue]? { path.key }
  /// The fields whose values the events contain; nil for all.
  let fields: Set<Int>?
  /// The fields of which an update must change at least one; nil for all.
  let counted: Set<Int>?
  /// - Parameter current: The current record; given only after a reset.
  let events: @Sendable (_ commit: ChangeBroker.Commit, _ current: [SQLValue]?) throws -> [Event]
  /// Returns the event to deliver before an event; nil if options are not available.
  let prior: (@Sendable (Event) -> Event)?

  /// The options that are available in addition to ``ObservationOptions/synchronous``.
  var options: ObservationOptions { prior == nil ? [] : [.initial, .prior] }

  /// - Parameters:
  ///   - order: The fields whose values the events contain; nil for all.
  ///   - filter: The fields of which an update must change at least one; nil for those.
  ///   - events: Must be the same for the same type of model, type of event, order and filter.
  init(
    _ model: any Model.Type, _ schema: ModelSchema, key: [SQLValue]?, order: [Int]?,
    filter: Set<Int>? = nil,
    events: @escaping @Sendable (ChangeBroker.Commit, [SQLValue]?) throws -> [Event],
    prior: (@Sendable (Event) -> Event)? = nil
  ) {
    let fields = order.map { Set($0) }
    self.model = ObjectIdentifier(model)
    self.order = order ?? []
    counted = filter ?? fields
    path = ObservedPath(
      model: schema.name, key: key,
      fields: (counted ?? []).sorted().map { schema.fields[$0].name })
    self.fields = fields
    self.events = events
    self.prior = prior
  }
}

extension ChangeBroker.Commit {
  /// Returns the commit's change of one field of the observed record; nil when it is unchanged.
  func change<Value>(
    ofField index: Int, in schema: ModelSchema, current: [SQLValue]?,
    _ decode: (SQLValue) throws -> Value
  ) throws -> FieldEvent<Value>? {
    let phase: ObservationPhase = isInitial ? .initial : .after
    if isReset {
      return FieldEvent(
        old: nil, new: try current.map { try decode($0[index]) }, origin: .foreign, cause: nil,
        version: version, isReset: true, phase: phase)
    }
    let change = firstChange
    if isInitial {
      return FieldEvent(
        old: nil, new: try change?.new.map { try decode($0[index]) }, origin: .foreign,
        cause: nil, version: version, isReset: false, phase: phase)
    }
    guard let change else { return nil }
    let name = schema.fields[index].name
    let changed = change.fields.first { $0.name == name }
    if change.operation == .update, changed == nil { return nil }
    return FieldEvent(
      old: try change.old.map { try decode($0[index]) },
      new: try change.new.map { try decode($0[index]) },
      origin: changed?.origin ?? change.origin,
      cause: changed == nil ? change.cause : changed?.cause, version: version,
      isReset: false, phase: phase)
  }

  /// Returns the commit's change of the observed record; nil when it is unchanged.
  ///
  /// - Parameter fields: The names of the requested fields; nil for all.
  func recordChange<M: Model>(
    current: [SQLValue]?, fields: Set<String>? = nil
  ) throws -> RecordEvent<M>? {
    let change = firstChange
    guard isReset || isInitial || change != nil else { return nil }
    let isFollowed = !isReset && !isInitial
    return RecordEvent(
      old: isFollowed ? try change?.old.map { try M(row: RowView(image: $0)) } : nil,
      new: try (isReset ? current : change?.new).map { try M(row: RowView(image: $0)) },
      fields: (isFollowed ? change?.fields ?? [] : [])
        .filter { fields?.contains($0.name) ?? true },
      origin: isFollowed ? change?.origin ?? .foreign : .foreign,
      cause: isFollowed ? change?.cause : nil, version: version, isReset: isReset,
      phase: isInitial ? .initial : .after)
  }
}
