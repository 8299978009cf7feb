// Differences between two states, as a change to make or to describe.
extension Reversion {
  /// Adds differences of records. Reaching the result turns their old values into the new
  /// ones.
  ///
  /// Bound and generated fields of a record that stays are left out: they follow their sources.
  ///
  /// - Throws: ``StoreError`` with code `unknownModel` or `unknownField`; `invalidQuery` if a
  ///   record occurs twice.
  mutating func add(_ differences: [RecordDifference]) throws {
    remedy = "Compare the stores again, or change the record by hand."
    for record in differences {
      guard let schema = schemas[record.model] else {
        throw StoreError(
          .unknownModel, "The store has no model \(record.model); nothing was changed.",
          model: record.model)
      }
      let identity = Identity(model: record.model, key: record.key)
      guard nets[identity] == nil else {
        throw StoreError(
          .invalidQuery,
          "The differences have a record of \(record.model) twice; nothing was changed.",
          model: record.model, key: record.key)
      }
      let isKept = record.operation == .update
      let net = Net(
        old: try places(of: record.new, in: schema, ofKept: isKept),
        new: try places(of: record.old, in: schema, ofKept: isKept))
      guard !net.isNothing else { continue }
      order.append(identity)
      nets[identity] = net
    }
  }

  private func places(
    of values: [String: SQLValue]?, in schema: ModelSchema, ofKept isKept: Bool
  ) throws(StoreError) -> [Int: SQLValue]? {
    guard let values else { return nil }
    var places: [Int: SQLValue] = [:]
    for (name, value) in values {
      guard let place = schema.fieldIndex(named: name) else {
        throw StoreError(
          .unknownField, "\(schema.name) has no field \(name); nothing was changed.",
          model: schema.name, field: name)
      }
      if isKept, boundFields[schema.name]?.contains(name) ?? false { continue }
      if schema.fields[place].generated == nil { places[place] = value }
    }
    return places
  }

  /// The net changes of the added entries.
  var differences: [RecordDifference] {
    order.compactMap { identity in
      guard let schema = schemas[identity.model], let net = nets[identity] else { return nil }
      let isKept = net.old != nil && net.new != nil
      func named(_ image: [Int: SQLValue]?) -> [String: SQLValue]? {
        guard let image else { return nil }
        // The journal has the key beside the image.
        var values = isKept ? [:] : Dictionary(uniqueKeysWithValues: zip(schema.key, identity.key))
        for place in isKept ? net.differing : Array(image.keys) {
          if let value = image[place] { values[schema.fields[place].name] = value }
        }
        return values
      }
      return RecordDifference(
        model: identity.model, key: identity.key, old: named(net.old), new: named(net.new))
    }
  }
}
