internal import Synchronization

/// What the observers of the same fields of a model have in common, so that each of many keeps
/// little besides its key.
final class ObservedFields: Sendable {
  let schema: ModelSchema
  /// The fields whose values the events show; nil for all.
  let fields: Set<Int>?
  /// The names of the fields of which an update must touch one; nil for all.
  let names: Set<String>?
  /// The same in field order, empty for all: as ``ObservedPath`` has them.
  let pathFields: [String]
  /// The fields that are read. The places of others in records hold NULL or a value, as it happens.
  let compared: [(index: Int, name: String)]
  let identity: KeyIdentity

  /// - Parameter counted: The fields that an update must touch to count; nil for all.
  init(_ schema: ModelSchema, fields: Set<Int>?, counted: Set<Int>?) {
    self.schema = schema
    self.fields = fields
    names = counted.map { Set($0.map { schema.fields[$0].name }) }
    pathFields = (counted ?? []).sorted().map { schema.fields[$0].name }
    compared = schema.fields.enumerated()
      .filter { index, _ in fields?.contains(index) ?? true }
      .map { (index: $0.offset, name: $0.element.name) }
    identity = KeyIdentity(schema)
  }

  /// - Parameter key: One record's key, or nil for all records.
  func path(_ key: [SQLValue]?) -> ObservedPath {
    ObservedPath(model: schema.name, key: key, fields: pathFields)
  }

  /// - Parameter key: One record's key, or nil for all records.
  func interest(_ key: [SQLValue]?) -> ChangeBroker.Interest {
    ChangeBroker.Interest(
      model: schema.name, records: key.map { .one(identity(given: $0), identity) } ?? .all,
      fields: fields)
  }

  /// The sets of fields that a store's observers have asked for.
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
        // A model may have been declared anew since.
        if let found = known[wanted], found.schema == schema { return found }
        let made = ObservedFields(schema, fields: fields, counted: counted)
        known[wanted] = made
        return made
      }
    }
  }
}
