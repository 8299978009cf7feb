/// An editor of one record's ordered list inside a writing transaction. It reads and changes the
/// list by index.
///
/// An element may occur many times, because every slot has its own identity. Each call either
/// succeeds completely or throws and leaves the list unchanged; the transaction can continue. A
/// call that would not change the list writes nothing and notifies no observers.
///
/// An index outside the list throws ``StoreError`` with code `invalidValue`, and so does NULL as an
/// element. An element without a record throws code `rejected`. In an adopted table this check
/// requires a foreign key to the element's table.
///
/// The first call by index reads the order of the list, which the store then caches. After that
/// each call costs O(log n) in addition to the rows that it writes. Do not use the editor outside
/// the closure that received it.
public struct ListEditor<Key: ModelKey>: ~Copyable {
  private let slots: SlotEditor
  private let name: String

  init(slots: SlotEditor, name: String) {
    self.slots = slots
    self.name = name
  }

  /// Returns the number of elements.
  public func count() throws -> Int { try slots.count() }

  /// Returns the keys of the elements, in order.
  ///
  /// - Complexity: Reads every slot.
  public func keys() throws -> [Key] {
    try slots.elements().map { try Key(sqlValues: [$0]) }
  }

  /// Replaces the elements of the list. Slots in the common beginning and the common end of the old
  /// and new list are left unchanged.
  ///
  /// - Complexity: Reads every slot; writes one row for each removed or added element.
  public func assign(_ keys: some Sequence<Key>) throws {
    try slots.assign(values(keys))
  }

  /// Appends an element.
  public func append(_ key: Key) throws {
    try slots.append([Self.value(key, of: name)])
  }

  /// Appends elements. Observers receive this as one operation.
  public func append(contentsOf keys: some Sequence<Key>) throws {
    try slots.append(values(keys))
  }

  /// Inserts an element at `index`.
  ///
  /// - Parameter index: From 0 to the number of elements.
  public func insert(_ key: Key, at index: Int) throws {
    try slots.insert(Self.value(key, of: name), at: index)
  }

  /// Removes the last element. Throws if the list is empty.
  public func removeLast() throws { try slots.removeLast() }

  /// Removes the element at `index`.
  public func remove(at index: Int) throws { try slots.remove(at: index) }

  /// Removes every element.
  public func removeAll() throws { try slots.removeAll() }

  /// Removes every occurrence of one element.
  ///
  /// - Returns: The number of removed elements.
  @discardableResult
  public func removeAll(equalTo key: Key) throws -> Int {
    try slots.removeEqual(Self.value(key, of: name))
  }

  /// Replaces the element at `index`. Observers receive a deletion and an insertion.
  ///
  /// The element gets a new slot. In an adopted table the row stays, with the values of its other
  /// columns.
  public func replace(at index: Int, with key: Key) throws {
    try slots.replace(at: index, with: Self.value(key, of: name))
  }

  /// Swaps the elements at two indices.
  ///
  /// It writes two rows. In an adopted table positions may be unique, so one row is written twice:
  /// it is first moved behind the last position. A rule of that table may reject this.
  public func swapAt(_ first: Int, _ second: Int) throws {
    try slots.exchange(first, second)
  }

  /// Moves the element at `index` to `newIndex`. It writes one row, and more only if no label is
  /// free there.
  public func move(from index: Int, to newIndex: Int) throws {
    try slots.move(from: index, to: newIndex)
  }

  private func values(_ keys: some Sequence<Key>) throws -> [SQLValue] {
    let name = name
    return try keys.map { try Self.value($0, of: name) }
  }

  private static func value(_ key: Key, of name: String) throws -> SQLValue {
    let value: SQLValue
    do {
      value = try key.sqlValues()[0]
    } catch {
      throw StoreError(
        .invalidValue, "\(name): the element's key cannot be stored: \(error).", model: name)
    }
    guard !value.isNull else {
      throw StoreError(.invalidValue, "\(name): NULL cannot be an element of a list.", model: name)
    }
    return value
  }
}

extension WriteTransaction {
  /// Returns an editor of one record's list.
  ///
  /// - Parameter key: The owner's key. Its record must exist before you add an element.
  /// - Throws: ``StoreError`` with code `unknownField` when the model declares no such list.
  public borrowing func list<Owner: Model, Element: Model>(
    _ list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key
  ) throws -> ListEditor<Element.Key> {
    try editor(try access.models.slots(of: list), try access.holder(of: list, key))
  }

  /// Returns an editor of one record's list by the list's name, for models without a Swift type.
  /// Elements are identified by their key values.
  ///
  /// - Parameter key: The owner's key, of one field.
  /// - Throws: As ``list(_:of:)``.
  public borrowing func list(
    _ name: String, of owner: ModelSchema, key: SQLValue
  ) throws -> ListEditor<SQLValue> {
    try editor(try access.models.slots(ofList: name, of: owner), key)
  }

  private borrowing func editor<Key>(
    _ slots: SlotModel, _ owner: SQLValue
  ) throws -> ListEditor<Key> {
    ListEditor(
      slots: try SlotEditor(access: access, slots: slots, owner: owner), name: slots.name)
  }
}

extension TransactionReads where Self: ~Copyable {
  /// Returns the keys of the elements of one record's list, in order.
  public borrowing func keys<Owner: Model, Element: Model>(
    of list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key
  ) throws -> [Element.Key] {
    let slots = try access.models.slots(of: list)
    do {
      return try elements(slots, try access.holder(of: list, key)).map {
        try Element.Key(sqlValues: [$0])
      }
    } catch let error as ColumnError {
      throw StoreError(.invalidValue, "\(slots.name): \(error).")
    }
  }

  /// Returns the keys of the elements of one record's list by the list's name, in order.
  ///
  /// - Parameter key: The owner's key, of one field.
  /// - Throws: ``StoreError`` with code `unknownField` when the model has no such list.
  public borrowing func keys(
    ofList name: String, of owner: ModelSchema, key: SQLValue
  ) throws -> [SQLValue] {
    try elements(try access.models.slots(ofList: name, of: owner), key)
  }

  private borrowing func elements(_ slots: SlotModel, _ owner: SQLValue) throws -> [SQLValue] {
    try access.rows(SlotSQL(slots, owner: owner).elements) { row in try row.value(at: 0) }
  }
}

extension _TransactionAccess {
  /// Returns the key of the record that owns a list. For a shared list, this is the record that the
  /// given one refers to.
  ///
  /// - Throws: ``StoreError`` with code `recordNotFound` when the record does not exist or refers
  ///   to no owner; with code `invalidValue` for a key that cannot be stored.
  func holder<Owner: Model, Element: Model>(
    of list: any KeyPath<Owner, OrderedList<Element>> & Sendable, _ key: Owner.Key
  ) throws -> SQLValue {
    let schema = Owner.schema
    let values: [SQLValue]
    do {
      values = try key.sqlValues()
    } catch {
      throw StoreError(
        .invalidValue, "\(schema.name): the owner's key cannot be stored: \(error).",
        model: schema.name)
    }
    guard let shared = Owner.definition.sharedList(at: list),
      let index = Owner.definition.fieldIndex(of: shared)
    else { return values[0] }
    let field = schema.fields[index].name
    guard let owner = try record(schema, key: values) else {
      throw StoreError(
        .recordNotFound, "The \(schema.name) does not exist, so it has no list.",
        model: schema.name, key: values)
    }
    guard !owner.values[index].isNull else {
      throw StoreError(
        .recordNotFound,
        "\(schema.name).\(field) is not set, so it shares no list. Set it first.",
        model: schema.name, field: field, key: values)
    }
    return owner.values[index]
  }
}

extension ModelRegistry {
  /// Returns the model that holds the slots of a list.
  ///
  /// - Throws: ``StoreError`` with code `unknownField` when the model declares no such list.
  func slots<Owner: Model, Element: Model>(
    of path: any KeyPath<Owner, OrderedList<Element>> & Sendable
  ) throws -> SlotModel {
    let owner = try statements(for: Owner.self).schema
    if let shared = Owner.definition.sharedList(at: path) {
      guard let (model, list) = shared.holder() else {
        throw StoreError(
          .unknownField,
          "\(owner.name) shares a list through a key path that is not a list of its model.",
          model: owner.name)
      }
      return try slots(ofList: list, of: try schema.model(named: model))
    }
    guard let list = Owner.definition.list(at: path) else {
      throw StoreError(
        .unknownField,
        "\(Owner.definition.described(path)) is not a list of \(owner.name). Declare it as a ModelList.",
        model: owner.name)
    }
    return try schema.slots(of: list, of: owner)
  }

  /// Returns the model that holds the slots of a list, by the list's name.
  func slots(ofList name: String, of owner: ModelSchema) throws -> SlotModel {
    let owner = try schema.model(named: owner.name)
    guard let list = owner.lists.first(where: { $0.name == name }) else {
      throw StoreError(
        .unknownField, "\(owner.name) has no list \(name).", model: owner.name, field: name)
    }
    return try schema.slots(of: list, of: owner)
  }

  /// Returns the model of a list's elements.
  func elements(ofList name: String, of owner: ModelSchema) throws -> ModelSchema {
    let owner = try schema.model(named: owner.name)
    let table = owner.lists.first { $0.name == name }?.elementTable ?? ""
    let folded = ExactText(table.asciiFolded)
    guard let elements = schema.models.first(where: { ExactText($0.table.asciiFolded) == folded })
    else {
      throw StoreError(
        .unknownModel, "\(owner.name).\(name): the model of the elements is unknown.",
        model: owner.name, field: name)
    }
    return elements
  }
}
