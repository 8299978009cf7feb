extension LiveResult {
  /// How a record of the model becomes a row of the result.
  struct Rule: Sendable {
    let schema: ModelSchema
    /// Whether a record belongs to the result; nil admits all.
    let admits: (@Sendable ([SQLValue]) -> Bool)?
    let terms: [(field: Int, term: SortTerm)]
    /// How keys are decoded from places; nil if keys are stored beside them.
    let keys: PlacedKeys?

    init(
      schema: ModelSchema, admits: (@Sendable ([SQLValue]) -> Bool)?,
      terms: [(field: Int, term: SortTerm)]
    ) {
      self.schema = schema
      self.admits = admits
      self.terms = terms
      keys = PlacedKeys(schema, orderedBy: terms.map(\.term))
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
        key: try schema.keyIndices.indices.map { try row.value(at: terms.count + $0) })
    }

    func place(of row: borrowing RowView) throws -> SortKey {
      var encoder = SortKeyEncoder()
      for (column, term) in terms.enumerated() {
        encoder.encode(try row.value(at: column), by: term.term)
      }
      for column in schema.keyIndices.indices {
        encoder.encode(try row.value(at: terms.count + column), by: SortTerm())
      }
      return SortKey(encoder)
    }

    /// Returns the rows of a result that `text` selects in order, with the values of
    /// ``placeFields``.
    ///
    /// - Throws: ``StoreError`` with code `corrupt` when they are not in order.
    func tree(reading text: SQLText, on connection: Connection) throws -> PlaceTree {
      let tree =
        if let keys {
          PlaceTree(sorted: try connection.rows(text) { try place(of: $0) }, keys: keys)
        } else {
          PlaceTree(sorted: try connection.rows(text) { try entry(of: $0) }, keys: nil)
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

    func entry(_ image: [SQLValue]) -> LiveRows.Entry {
      entry(image, key: schema.keyIndices.map { image[$0] })
    }

    private func entry(_ image: [SQLValue], key: [SQLValue]) -> LiveRows.Entry {
      var encoder = SortKeyEncoder()
      for (field, term) in terms { encoder.encode(image[field], by: term) }
      for value in key { encoder.encode(value, by: SortTerm()) }
      return LiveRows.Entry(place: SortKey(encoder), key: key)
    }

    func touch(_ change: RecordChange) -> QueryDelta.Touch? {
      let before = change.old.flatMap { admits?($0) ?? true ? $0 : nil }
      let after = change.new.flatMap { admits?($0) ?? true ? $0 : nil }
      guard before != nil || after != nil else { return nil }
      // If the key is partly NULL, the change's key contains more than the key fields.
      let key = change.key.count == schema.keyIndices.count ? change.key : nil
      func side(_ image: [SQLValue]) -> QueryDelta.Side {
        QueryDelta.Side(entry: key.map { entry(image, key: $0) } ?? entry(image), image: image)
      }
      let old = before.map(side)
      var new: QueryDelta.Side?
      if let old, let before, let after, terms.allSatisfy({ before[$0.field] == after[$0.field] }) {
        new = QueryDelta.Side(entry: old.entry, image: after)
      } else {
        new = after.map(side)
      }
      func standing(_ image: [SQLValue]?, _ side: QueryDelta.Side?) -> QueryDelta.Touch.Standing {
        if side != nil { return .admitted }
        return image == nil ? .absent : .excluded
      }
      return QueryDelta.Touch(
        key: change.key, old: old, new: new, origin: change.origin, fields: change.fields,
        isRecreated: change.isRecreated, before: standing(change.old, old),
        after: standing(change.new, new))
    }
  }
}
