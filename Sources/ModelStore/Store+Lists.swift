// One record's ordered list.
extension Store {
  /// Follows one record's list from now on: elements that come, go and move, with their indices,
  /// and changes of the elements' own fields.
  ///
  /// - Parameters:
  ///   - key: The owner's key; its record need not exist yet.
  ///   - fields: The fields of elements to tell about, at every index that an element occupies, as
  ///     long as it is in the list; without any, elements are not observed.
  /// - Throws: ``StoreError`` with code `unknownField` for what is no list of the owner or no
  ///   stored field of its elements; `misuse` inside a write of this store.
  /// A list that records share (``ModelList``) is the one to which the owner refers now. When the
  /// owner comes to refer to another, this goes on with the former: observe the field to notice.
  ///
  /// - Complexity: Reads the list once, while writers wait, unless it is followed already; then
  ///   O(log n) for each changed slot.
  public func liveList<Owner: Model, Element: Model>(
    _ list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key,
    fields: [any PartialKeyPath<Element> & Sendable] = []
  ) throws -> LiveList<Element.Key> {
    let engine = try open
    let slots = try engine.models.slots(of: list)
    let elements = try engine.models.statements(for: Element.self).schema
    let indices = try fields.map { field in
      guard let index = Element.definition.fieldIndex(of: field) else {
        throw StoreError(
          .unknownField, Element.definition.notStored(field), model: elements.name)
      }
      return index
    }
    let owner = try engine.connections.readers.sync { connection in
      try engine.read(connection) { reads in try reads.access.holder(of: list, key) }
    }
    return LiveList(
      try engine.follow(
        ListResult.Rule(slots: slots, owner: owner, elements: elements, fields: Set(indices))),
      store: LiveStore(lease))
  }

  /// The same by the names of the list and of its elements' fields, for programs that have no Swift
  /// type for the model.
  ///
  /// - Parameter key: The owner's key, of one field.
  public func liveList(
    _ name: String, of owner: ModelSchema, key: SQLValue, fields: [String] = []
  ) throws -> LiveList<SQLValue> {
    let engine = try open
    let slots = try engine.models.slots(ofList: name, of: owner)
    let elements = try engine.models.elements(ofList: name, of: owner)
    let indices = try fields.map { field in
      guard let index = elements.fieldIndex(named: field) else {
        throw StoreError(
          .unknownField, "\(elements.name) has no field \(field).", model: elements.name,
          field: field)
      }
      return index
    }
    return LiveList(
      try engine.follow(
        ListResult.Rule(slots: slots, owner: key, elements: elements, fields: Set(indices))),
      store: LiveStore(lease))
  }

  /// Tells each change of one record's list, from now on: ``liveList(_:of:fields:)`` and
  /// ``LiveList/observe(options:coalescing:_:)`` in one, with their parameters and errors.
  public func observe<Owner: Model, Element: Model>(
    list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key,
    fields: [any PartialKeyPath<Element> & Sendable] = [], options: ObservationOptions = [],
    coalescing: CoalescingPolicy = .standard,
    _ body: @escaping @Sendable (ListChanges<Element.Key>) -> Void
  ) throws -> ObservationToken {
    try liveList(list, of: key, fields: fields)
      .observe(options: options, coalescing: coalescing, body)
  }

  /// The changes of one record's list from now on, for one `for try await` loop:
  /// ``liveList(_:of:fields:)`` and ``LiveList/changes(options:coalescing:)`` in one, with their
  /// parameters and errors.
  public func changes<Owner: Model, Element: Model>(
    ofList list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key,
    fields: [any PartialKeyPath<Element> & Sendable] = [], options: ObservationOptions = [],
    coalescing: CoalescingPolicy = .standard
  ) throws -> ChangeSequence<ListChanges<Element.Key>> {
    try liveList(list, of: key, fields: fields).changes(options: options, coalescing: coalescing)
  }
}

extension StoreEngine {
  /// The list, as somebody follows it already or from now on.
  fileprivate func follow(_ rule: ListResult.Rule) throws -> RegisteredList {
    let text = SlotSQL(rule.slots, owner: rule.ownerKey).rows
    let reload: @Sendable (Connection) throws -> [[SQLValue]] = { connection in
      try connection.rows(text) { row in try row.values() }
    }
    return try turns.take { writer in
      try foreignSync.atPublishedState(&writer) { writer in
        try liveLists.result(for: rule.identity) {
          try register(rule, on: writer.connection, reload)
        }
      }
    }
  }

  private func register(
    _ rule: ListResult.Rule, on connection: Connection,
    _ reload: @escaping @Sendable (Connection) throws -> [[SQLValue]]
  ) throws -> RegisteredList {
    let images: [[SQLValue]]
    do {
      images = try reload(connection)
    } catch {
      throw models.storeError(error, about: rule.slots.schema)
    }
    let result = try ListResult(
      rule: rule, images: images, version: broker.version,
      reload: { [weak self] in
        guard let self else { throw StoreLease.closed }
        return try foreignSync.readPublished(reload)
      }, report: report)
    return RegisteredList(result, end: broker.add(result))
  }
}
