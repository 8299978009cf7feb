extension LiveResult {
  /// What determines the places of a model's records.
  ///
  /// Results with equal orders share one, so that two orders are nearly always compared by
  /// reference.
  final class Order: Equatable, Sendable {
    fileprivate struct Content: Hashable {
      /// The terms and the fields that they read.
      let terms: [SortTerm]
      let fields: [Int]
      let keyFields: [Int]
    }

    fileprivate let content: Content

    private init(_ content: Content) { self.content = content }

    private static let known = SharedResults<Content, Order>()

    fileprivate static func shared(_ content: Content) -> Order {
      if let order = known.kept(content) { return order }
      // Two threads at once may each make one, which are equal.
      let order = Order(content)
      known.keep(order, for: content)
      return order
    }

    static func == (left: Order, right: Order) -> Bool {
      left === right || left.content == right.content
    }
  }

  /// How a record of the model becomes a row of the result.
  struct Rule: Sendable {
    let schema: ModelSchema
    /// Whether a record belongs to the result; nil admits all.
    let admits: (@Sendable ([SQLValue]) -> Bool)?
    /// The fields that `admits` reads; nil if unknown.
    private let filterMask: FieldMask?
    let terms: [(field: Int, term: SortTerm)]
    /// How keys are decoded from places; nil if keys are stored beside them.
    let keys: PlacedKeys?
    private let order: Order

    init(
      schema: ModelSchema, admits: (@Sendable ([SQLValue]) -> Bool)?, filterFields: [Int]? = nil,
      terms: [(field: Int, term: SortTerm)]
    ) {
      self.schema = schema
      self.admits = admits
      filterMask = filterFields.map { FieldMask(Set($0)) }
      self.terms = terms
      keys = PlacedKeys(schema, orderedBy: terms.map(\.term))
      order = .shared(
        Order.Content(
          terms: terms.map(\.term), fields: terms.map(\.field), keyFields: schema.keyIndices))
    }

    /// The fields that determine a record's place, in the order in which ``place(of:)`` reads them.
    var placeFields: [Int] { terms.map(\.field) + schema.keyIndices }

    /// Returns the place of a record that belongs to the result.
    ///
    /// - Parameter row: The values of ``placeFields``.
    func entry(of row: borrowing RowView) throws -> LiveRows.Entry {
      let place = try place(of: row)
      return LiveRows.Entry(
        place: place,
        key: try order.content.keyFields.indices.map { try row.value(at: terms.count + $0) })
    }

    private func place(of row: borrowing RowView) throws -> SortKey {
      var encoder = SortKeyEncoder()
      let content = order.content
      for column in content.terms.indices {
        try encoder.encode(row, at: column, by: content.terms[column])
      }
      for column in content.keyFields.indices {
        try encoder.encode(row, at: content.terms.count + column, by: SortTerm())
      }
      return SortKey(encoder)
    }

    /// Returns the rows of a result that `text` selects in order, with the values of
    /// ``placeFields``.
    ///
    /// - Throws: ``StoreError`` with code `corrupt` when they are not in order.
    func tree(reading text: SQLText, on connection: Connection) throws -> PlaceTree {
      let tree: PlaceTree?
      if let keys {
        var places = RankedTree<SortKey>.Leaves()
        try connection.forEachRow(text) { row in places.append(try place(of: row)) }
        tree = PlaceTree(places, keys: keys)
      } else {
        tree = PlaceTree(sorted: try connection.rows(text) { try entry(of: $0) }, keys: nil)
      }
      guard let tree else { throw disorder }
      return tree
    }

    /// - Parameter images: The records of the result, in order.
    /// - Throws: ``StoreError`` with code `corrupt` when they are not in order.
    func tree(_ images: [[SQLValue]]) throws(StoreError) -> PlaceTree {
      guard let tree = PlaceTree(sorted: images.lazy.map { entry($0) }, keys: keys) else {
        throw disorder
      }
      return tree
    }

    private var disorder: StoreError {
      StoreError(
        .corrupt,
        "SQLite returned records of \(schema.name) out of order, or one key twice, so an index of the file is damaged. Check the file, and run REINDEX.",
        model: schema.name)
    }

    func entry(_ image: [SQLValue]) -> LiveRows.Entry { order.entry(image) }

    /// Returns what changes do to the result, in their order.
    func touches(_ changes: ChangeBroker.Commit.Part) -> [QueryDelta.Touch] {
      switch changes {
      case .one(let change): return touch(change).map { [$0] } ?? []
      case .several(let changes):
        var touches: [QueryDelta.Touch] = []
        touches.reserveCapacity(changes.count)
        for change in changes {
          if let touch = touch(change) { touches.append(touch) }
        }
        return touches
      }
    }

    /// Returns what a change does to the result; nil for nothing.
    func touch(_ change: RecordChange) -> QueryDelta.Touch? {
      let (isBefore, isAfter) = admission(change)
      guard isBefore || isAfter else { return nil }
      let row = change.derived(
        where: { $0.order == order }, making: { TouchedRow(change, in: order) })
      return QueryDelta.Touch(
        row, before: isBefore ? .admitted : change.old == nil ? .absent : .excluded,
        after: isAfter ? .admitted : change.new == nil ? .absent : .excluded)
    }

    /// Whether the record belonged to the result before, and whether it does after.
    private func admission(_ change: RecordChange) -> (isBefore: Bool, isAfter: Bool) {
      guard let admits else { return (change.old != nil, change.new != nil) }
      guard let old = change.old else { return (false, change.new.map(admits) ?? false) }
      guard let new = change.new else { return (admits(old), false) }
      let isBefore = admits(old)
      // The condition reads nothing that differs, so it gives the same answer.
      if let filterMask, !filterMask.overlaps(change.changed) { return (isBefore, isBefore) }
      return (isBefore, admits(new))
    }
  }
}

extension LiveResult.Order {
  func entry(_ image: [SQLValue]) -> LiveRows.Entry {
    entry(image, key: content.keyFields.map { image[$0] })
  }

  private func entry(_ image: [SQLValue], key: [SQLValue]) -> LiveRows.Entry {
    var encoder = SortKeyEncoder()
    for place in content.fields.indices {
      encoder.encode(image[content.fields[place]], by: content.terms[place])
    }
    for value in key { encoder.encode(value, by: SortTerm()) }
    return LiveRows.Entry(place: SortKey(encoder), key: key)
  }

  /// Returns the two sides of a change, admitted by a result or not.
  fileprivate func sides(
    _ change: RecordChange, key: [SQLValue]
  ) -> (old: QueryDelta.Side?, new: QueryDelta.Side?) {
    // If the key is partly NULL, the change's key contains more than the key fields.
    let key = key.count == content.keyFields.count ? key : nil
    func side(_ image: [SQLValue]) -> QueryDelta.Side {
      QueryDelta.Side(entry: key.map { entry(image, key: $0) } ?? entry(image), image: image)
    }
    let old = change.old.map(side)
    guard let old, let before = change.old, let after = change.new,
      content.fields.allSatisfy({ before[$0] == after[$0] })
    else { return (old, change.new.map(side)) }
    return (old, QueryDelta.Side(entry: old.entry, image: after))
  }
}

extension SortKeyEncoder {
  /// Encodes a value of a row. Most texts are read in place.
  fileprivate mutating func encode(
    _ row: borrowing RowView, at column: Int, by term: SortTerm
  ) throws(ColumnError) {
    if row.withBytes(ofTextAt: column, { encode(plainText: $0, by: term) }) == true { return }
    encode(try row.value(at: column), by: term)
  }
}

extension TouchedRow {
  fileprivate convenience init(_ change: RecordChange, in order: LiveResult.Order) {
    let key = change.key
    let (old, new) = order.sides(change, key: key)
    self.init(
      key: key, old: old, new: new, origin: change.origin, fields: change.fields,
      isRecreated: change.isRecreated, order: order)
  }
}
