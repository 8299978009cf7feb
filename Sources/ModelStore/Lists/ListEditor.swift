/// One record's ordered list inside a writing transaction: reads and changes it by index.
///
/// Every slot has an identity of its own, so an element may occur many times. Each call either
/// happens as a whole or throws and leaves the list as it was; the transaction can go on. A call
/// that would leave the list as it is writes nothing and announces nothing.
///
/// An index that the list does not have is refused with ``StoreError``, code `invalidValue`, and so
/// is NULL as an element; an element without a record is refused with code `rejected`, in a table
/// of another design only if that refers to the element's by foreign key. The first call by index
/// reads the order of the list once, which the store then keeps; after that each call costs
/// O(log n) beside the rows that it writes. Not to be used outside of the closure that got it.
public struct ListEditor<Key: ModelKey>: ~Copyable {
  private let slots: SlotEditor
  private let name: String

  init(slots: SlotEditor, name: String) {
    self.slots = slots
    self.name = name
  }

  /// How many elements there are.
  public func count() throws -> Int { try slots.count() }

  /// The keys of the elements, in order.
  ///
  /// - Complexity: Reads every slot.
  public func keys() throws -> [Key] {
    try slots.elements().map { try Key(sqlValues: [$0]) }
  }

  /// Gives the list these elements. Where the old and the new list begin or end alike, the slots
  /// stay.
  ///
  /// - Complexity: Reads every slot; writes one row for each element that leaves or comes.
  public func assign(_ keys: some Sequence<Key>) throws {
    try slots.assign(values(keys))
  }

  /// Adds an element at the end.
  public func append(_ key: Key) throws {
    try slots.append([Self.value(key, of: name)])
  }

  /// Adds elements at the end; observers are told one operation.
  public func append(contentsOf keys: some Sequence<Key>) throws {
    try slots.append(values(keys))
  }

  /// Adds an element so that it has `index`.
  ///
  /// - Parameter index: From 0 to the number of elements.
  public func insert(_ key: Key, at index: Int) throws {
    try slots.insert(Self.value(key, of: name), at: index)
  }

  /// Removes the last element. An empty list has none, and refuses.
  public func removeLast() throws { try slots.removeLast() }

  /// Removes the element at `index`.
  public func remove(at index: Int) throws { try slots.remove(at: index) }

  /// Removes every element.
  public func removeAll() throws { try slots.removeAll() }

  /// Removes every occurrence of one element.
  ///
  /// - Returns: How many there were.
  @discardableResult
  public func removeAll(equalTo key: Key) throws -> Int {
    try slots.removeEqual(Self.value(key, of: name))
  }

  /// Puts another element in the place of the one at `index`. The slot is a new one; in a table of
  /// another design the row stays, with all else that it holds. Either way observers are told a
  /// deletion and an insertion.
  public func replace(at index: Int, with key: Key) throws {
    try slots.replace(at: index, with: Self.value(key, of: name))
  }

  /// Lets the elements at two indices change places. Writes two rows; in a table of another design,
  /// where positions may be unique, one of them twice, by way of the position behind the last one,
  /// which a rule of that table may refuse.
  public func swapAt(_ first: Int, _ second: Int) throws {
    try slots.exchange(first, second)
  }

  /// Moves the element at `index` so that it has `newIndex` afterwards. Writes one row, except that
  /// room is made first where labels are used up.
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
      throw StoreError(.invalidValue, "\(name): NULL is no element of a list.", model: name)
    }
    return value
  }
}

extension WriteTransaction {
  /// One record's list, to read and change.
  ///
  /// - Parameter key: The owner's key. Its record must exist before an element is added.
  /// - Throws: ``StoreError`` with code `unknownField` when the model declares no such list.
  public borrowing func list<Owner: Model, Element: Model>(
    _ list: any KeyPath<Owner, OrderedList<Element>> & Sendable, of key: Owner.Key
  ) throws -> ListEditor<Element.Key> {
    try editor(try access.models.slots(of: list), try access.holder(of: list, key))
  }

  /// One record's list by its name, to read and change. For programs that have no Swift type for
  /// the model; elements are named by the values of their keys.
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
  /// The keys of the elements of one record's list, in order.
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

  /// The keys of the elements of one record's list, by the list's name, in order.
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
  /// The key of the record that owns a list: the one that was asked for, or, where the list is
  /// shared, the one that it refers to.
  ///
  /// - Throws: ``StoreError`` with code `recordNotFound` when there is no such record, or it refers
  ///   to none; `invalidValue` for a key that cannot be stored.
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
        .recordNotFound, "There is no such \(schema.name), so it has no list.",
        model: schema.name, key: values)
    }
    guard !owner.values[index].isNull else {
      throw StoreError(
        .recordNotFound,
        "\(schema.name).\(field) refers to no record whose list could be shared. Set it first.",
        model: schema.name, field: field, key: values)
    }
    return owner.values[index]
  }
}

extension ModelRegistry {
  /// The model that holds the slots of a list.
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

  /// The same by name.
  func slots(ofList name: String, of owner: ModelSchema) throws -> SlotModel {
    let owner = try schema.model(named: owner.name)
    guard let list = owner.lists.first(where: { $0.name == name }) else {
      throw StoreError(
        .unknownField, "\(owner.name) has no list \(name).", model: owner.name, field: name)
    }
    return try schema.slots(of: list, of: owner)
  }

  /// The model of a list's elements.
  func elements(ofList name: String, of owner: ModelSchema) throws -> ModelSchema {
    let owner = try schema.model(named: owner.name)
    let table = owner.lists.first { $0.name == name }?.elementTable ?? ""
    let folded = ExactText(table.asciiFolded)
    guard let elements = schema.models.first(where: { ExactText($0.table.asciiFolded) == folded })
    else {
      throw StoreError(
        .unknownModel, "\(owner.name).\(name): the model of the elements is not known.",
        model: owner.name, field: name)
    }
    return elements
  }
}
