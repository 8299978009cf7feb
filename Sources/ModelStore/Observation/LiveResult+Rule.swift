extension LiveResult {
  /// How a row of the model becomes a row of the result.
  struct Rule: Sendable {
    let schema: ModelSchema
    /// Whether a record belongs to the result; nil admits all.
    let admits: (@Sendable ([SQLValue]) -> Bool)?
    let terms: [(field: Int, term: SortTerm)]
    /// How keys are read from places; nil where they are kept beside them.
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

    /// The fields that tell a record's place, and in this order ``place(of:)`` reads them.
    var placeFields: [Int] { terms.map(\.field) + schema.keyIndices }

    /// The place of a record that the result has.
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

    /// The rows of a result that `statement` gives in order, the values of ``placeFields`` each.
    func tree(reading text: SQLText, on connection: Connection) throws -> PlaceTree {
      guard let keys else {
        return PlaceTree(sorted: try connection.rows(text) { try entry(of: $0) }, keys: nil)
      }
      return PlaceTree(sorted: try connection.rows(text) { try place(of: $0) }, keys: keys)
    }

    /// - Parameter images: The records of the result, in order.
    func tree(_ images: [[SQLValue]]) -> PlaceTree {
      PlaceTree(sorted: images.lazy.map { entry($0) }, keys: keys)
    }

    func entry(_ image: [SQLValue]) -> LiveRows.Entry {
      let key = schema.keyIndices.map { image[$0] }
      let place = SortKey(
        values: terms.map { image[$0.field] }, terms: terms.map(\.term), key: key)
      return LiveRows.Entry(place: place, key: key)
    }

    func side(_ image: [SQLValue]?) -> QueryDelta.Side? {
      guard let image, admits?(image) ?? true else { return nil }
      return QueryDelta.Side(entry: entry(image), image: image)
    }

    func touch(_ change: RecordChange) -> QueryDelta.Touch? {
      let old = side(change.old)
      let new = side(change.new)
      guard old != nil || new != nil else { return nil }
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
