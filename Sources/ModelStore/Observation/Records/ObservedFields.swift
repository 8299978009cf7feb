internal import Synchronization

/// The part that observers of the same fields of a model share, so that each observer stores little
/// more than its key.
final class ObservedFields: Sendable {
  let schema: ModelSchema
  /// The fields whose values the events contain; nil for all.
  let fields: Set<Int>?
  /// The names of the fields of which an update must change at least one, in field order; nil for
  /// all.
  let names: [String]?
  /// The fields that are read. In records, other fields contain either NULL or a value.
  let compared: [(index: Int, name: String)]
  let identity: KeyIdentity
  /// The fields that are read, for routing.
  let mask: FieldMask

  /// - Parameter counted: The fields of which an update must change at least one; nil for all.
  init(_ schema: ModelSchema, fields: Set<Int>?, counted: Set<Int>?) {
    self.schema = schema
    self.fields = fields
    names = counted.map { $0.sorted().map { schema.fields[$0].name } }
    compared = schema.fields.enumerated()
      .filter { index, _ in fields?.contains(index) ?? true }
      .map { (index: $0.offset, name: $0.element.name) }
    identity = KeyIdentity(schema)
    mask = FieldMask(fields)
  }

  /// - Parameter key: One record's key, or nil for all records.
  func path(_ key: [SQLValue]?) -> ObservedPath {
    ObservedPath(model: schema.name, key: key, fields: names ?? [])
  }

  /// - Parameter key: One record's key, or nil for all records.
  func interest(_ key: [SQLValue]?) -> ChangeBroker.Interest {
    ChangeBroker.Interest(
      model: schema.name, records: key.map { .one(identity(given: $0), identity) } ?? .all,
      fields: fields)
  }

  /// The sets of fields that a store's observers have requested.
  final class Pool: Sendable {
    private struct Wanted: Hashable {
      let model: String
      let fields: Set<Int>?
      let counted: Set<Int>?
    }

    private let known = Mutex<[Wanted: ObservedFields]>([:])

    func fields(
      _ schema: ModelSchema, fields: Set<Int>?, counted: Set<Int>?
    ) -> ObservedFields {
      known.withLock { known in
        let wanted = Wanted(model: schema.name, fields: fields, counted: counted)
        // The model may have been declared again in the meantime.
        if let found = known[wanted], found.schema == schema { return found }
        let made = ObservedFields(schema, fields: fields, counted: counted)
        known[wanted] = made
        return made
      }
    }
  }
}
