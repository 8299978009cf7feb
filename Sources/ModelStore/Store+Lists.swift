// One record's ordered list.
extension Store {
  /// Follows one record's list from now on: elements that are inserted, removed and moved, with
  /// their indices, and changes of the elements' own fields.
  ///
  /// - Parameters:
  ///   - key: The owner's key; its record need not exist yet.
  ///   - fields: The fields of elements to observe while an element is in the list. A change is
  ///     reported at every index of the element. If empty, elements are not observed.
  /// - Throws: ``StoreError`` with code `unknownField` for a name that is not a list of the owner
  ///   or not a stored field of its elements; `misuse` inside a write of this store. If records
  ///   share the list (``ModelList``), you follow the list to which the owner refers now. If the
  ///   owner later refers to another list, this continues with the former. To notice that, observe
  ///   the field.
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

  /// Follows a list by its name and the names of its elements' fields, for programs without a Swift
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
        throw StoreError(unknownField: field, of: elements)
      }
      return index
    }
    return LiveList(
      try engine.follow(
        ListResult.Rule(slots: slots, owner: key, elements: elements, fields: Set(indices))),
      store: LiveStore(lease))
  }

  /// Calls `body` for each change of one record's list, from now on. Combines
  /// ``liveList(_:of:fields:)`` and ``LiveList/observe(options:coalescing:_:)``, with their
  /// parameters and errors.
  public func observe<Owner: Model, Element: Model>(
    list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key,
    fields: [any PartialKeyPath<Element> & Sendable] = [], options: ObservationOptions = [],
    coalescing: CoalescingPolicy = .standard,
    _ body: @escaping @Sendable (ListChanges<Element.Key>) -> Void
  ) throws -> ObservationToken {
    try liveList(list, of: key, fields: fields)
      .observe(options: options, coalescing: coalescing, body)
  }

  /// Returns the changes of one record's list from now on, for one `for try await` loop. Combines
  /// ``liveList(_:of:fields:)`` and ``LiveList/changes(options:coalescing:)``, with their
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
  /// Returns the list, either one that is already followed or a new one.
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
