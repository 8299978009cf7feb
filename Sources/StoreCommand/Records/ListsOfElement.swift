import ModelStore

/// The ordered lists of a store whose elements are records of one model.
struct ListsOfElement {
  /// A list of a model, such as `Playlist.tracks`.
  struct List {
    let owner: ModelSchema
    let list: ListSchema
    let slots: SlotModel

    var name: String { slots.name }
  }

  let element: ModelSchema
  let lists: [List]

  /// - Parameter name: `Playlist.tracks` or `tracks`; nil for all lists.
  /// - Throws: ``CommandError`` if there is none, with near misses.
  init(of element: ModelSchema, named name: String?, in opened: OpenedStore) throws {
    self.element = element
    let schema = opened.store.schema
    let table = element.table.asciiFolded
    let all = try schema.models.flatMap { owner in
      try owner.lists.filter { $0.elementTable.asciiFolded == table }
        .map { List(owner: owner, list: $0, slots: try schema.slots(of: $0, of: owner)) }
    }
    guard !all.isEmpty else {
      throw CommandError.usage(
        "\(element.name) has no ordered lists of its records.",
        hint: "storecli models \(Shell.quoted(element.name))", model: element.name)
    }
    lists = all.filter { name == nil || $0.name == name || $0.list.name == name }
    guard !lists.isEmpty else {
      throw CommandError.usage(
        "No list \(name ?? "") has records of \(element.name)"
          + CommandError.meant(NearMiss.suggestions(for: name ?? "", among: all.map(\.name))),
        model: element.name)
    }
  }

  /// Returns the one list that has a record, and the key of its owner.
  ///
  /// - Parameter owner: The owner's key on the command line; nil for any owner.
  /// - Throws: ``CommandError`` if no list or more than one has the record.
  func only(
    with key: [SQLValue], in owner: String?, _ opened: OpenedStore
  ) throws -> (list: List, owner: SQLValue) {
    var found: [(list: List, owner: SQLValue)] = []
    for list in lists {
      let wanted = try owner.map { try KeyText.key($0, for: list.owner, in: opened)[0] }
      var owners: [SQLValue] = []
      try opened.read { reads in
        try reads.forEach(Self.query(of: key, in: list.slots)) { slot in
          let owner = slot.values[list.slots.owner]
          if wanted.map({ $0 == owner }) ?? true, !owners.contains(owner) { owners.append(owner) }
        }
      }
      found += owners.map { (list, $0) }
    }
    let record = "\(element.name) \(KeyText.text(key))"
    guard let first = found.first else {
      let place = lists.map(\.name).joined(separator: " or ") + (owner.map { " of \($0)" } ?? "")
      throw CommandError(
        .notFound, code: "recordNotFound", "\(record) is not in \(place).", model: element.name)
    }
    guard found.count == 1 else {
      let places = found.prefix(Self.shownCountMax)
        .map { "\($0.list.name) of \(KeyText.text([$0.owner]))" }
      let more = found.count > places.count ? ", and others" : ""
      throw CommandError.usage(
        "\(record) is in \(places.joined(separator: ", "))\(more).",
        hint: "add --in KEY" + (lists.count > 1 ? " or --list NAME" : ""), model: element.name)
    }
    return first
  }

  private static let shownCountMax = 5

  private static func query(
    of key: [SQLValue], in slots: SlotModel
  ) -> StoreQuery<DynamicRecord> {
    StoreQuery<DynamicRecord>(slots.schema)
      .filter(.comparison(.field(slots.element), .equal, .value(key[0])))
  }
}
