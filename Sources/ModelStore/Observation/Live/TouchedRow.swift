/// A row that a commit touched, with its records and their places before and after.
///
/// Live results of one order share it, and so do the events of all their subscribers. Whether a
/// result contains the row is up to the result: see ``QueryDelta/Touch``.
final class TouchedRow: Sendable {
  let key: [SQLValue]
  let old: QueryDelta.Side?
  let new: QueryDelta.Side?
  let origin: Origin
  let fields: [ChangedField]
  let isRecreated: Bool
  /// Whether both places are equal.
  let isInPlace: Bool
  /// Whether both records are known, and differ.
  let isUpdate: Bool
  /// The order of the places; nil for a row that is not shared.
  let order: LiveResult.Order?
  private let readings = Derivations()

  init(
    key: [SQLValue], old: QueryDelta.Side?, new: QueryDelta.Side?, origin: Origin,
    fields: [ChangedField], isRecreated: Bool = false, order: LiveResult.Order? = nil
  ) {
    self.key = key
    self.old = old
    self.new = new
    self.origin = origin
    self.fields = fields
    self.isRecreated = isRecreated
    self.order = order
    isInPlace = old.map { $0.entry == new?.entry } ?? false
    if let before = old?.image, let after = new?.image {
      isUpdate = before != after
    } else {
      isUpdate = false
    }
  }

  /// Returns one of the records as `Element`.
  ///
  /// - Throws: ``StoreError`` with code `invalidValue` when it cannot be decoded.
  func record<Element>(
    _ side: SingleRecord<Element>.Side, of schema: ModelSchema
  ) throws -> SingleRecord<Element> {
    try readings.value(
      where: { $0.side == side && $0.schema.isSame(as: schema) },
      making: { try SingleRecord<Element>(side, of: self, schema: schema) })
  }

  /// Returns both records as `Element`, of a row that is an update.
  ///
  /// - Parameter type: That of the result, `RecordPair<Element>`.
  /// - Throws: As ``record(_:of:)``.
  func records<Element>(
    of schema: ModelSchema, as type: ObjectIdentifier
  ) throws -> RecordPair<Element> {
    assert(type == ObjectIdentifier(RecordPair<Element>.self))
    func isWanted(_ value: any AnyObject) -> Bool {
      unsafeDowncast(value, to: RecordPair<Element>.self).schema.isSame(as: schema)
    }
    let known = readings.known(type, where: isWanted)
    if let known { return unsafeDowncast(known, to: RecordPair<Element>.self) }
    let made = try RecordPair<Element>(of: self, schema: schema)
    readings.add(made, as: type, where: isWanted)
    return made
  }

  fileprivate func element<Element: Fetchable>(
    _ image: [SQLValue], of schema: ModelSchema
  ) throws -> Element {
    do {
      return try Element(row: RowView(image: image), schema: schema)
    } catch let error as ColumnError {
      throw StoreError(error, reading: schema)
    }
  }

  /// Returns the key of a record whose values are not known.
  fileprivate func key<Element: Fetchable>(
    of type: Element.Type, _ schema: ModelSchema
  ) throws -> Element.Key {
    do {
      return try Element._key(named: key)
    } catch let error as ColumnError {
      throw StoreError(error, reading: schema)
    }
  }
}

/// The old or the new record of a touched row as a Swift type, decoded once for all events that
/// contain it. An event decodes only what it reports, because a record that cannot be decoded is
/// an error.
final class SingleRecord<Element: Fetchable>: Sendable {
  enum Side {
    case old, new
  }

  fileprivate let schema: SchemaIdentity
  fileprivate let side: Side
  let key: Element.Key
  /// nil if its values are not known.
  let record: Element?

  fileprivate init(_ side: Side, of row: TouchedRow, schema: ModelSchema) throws {
    self.schema = SchemaIdentity(schema)
    self.side = side
    if let image = (side == .old ? row.old : row.new)?.image {
      let record: Element = try row.element(image, of: schema)
      key = record._key(named: row.key)
      self.record = record
    } else {
      key = try row.key(of: Element.self, schema)
      record = nil
    }
  }

  /// The record, whose values are known.
  var known: Element {
    guard let record else { preconditionFailure("A new record is known.") }
    return record
  }
}

/// Both records of an update as a Swift type, decoded once for all events that contain them.
final class RecordPair<Element: Fetchable>: Sendable {
  fileprivate let schema: SchemaIdentity
  /// The fields that differ, in field order.
  let fields: [ChangedField]
  let isRecreated: Bool
  let key: Element.Key
  let old: Element
  let new: Element

  fileprivate init(of row: TouchedRow, schema: ModelSchema) throws {
    guard let before = row.old?.image, let after = row.new?.image else {
      preconditionFailure("Both records of an update are known.")
    }
    self.schema = SchemaIdentity(schema)
    fields = row.changedFields(from: before, to: after, of: schema)
    isRecreated = row.isRecreated
    new = try row.element(after, of: schema)
    key = new._key(named: row.key)
    old = try row.element(before, of: schema)
  }

  private init(inverting pair: RecordPair) {
    schema = pair.schema
    key = pair.key
    old = pair.new
    new = pair.old
    fields = pair.fields.map { field in
      ChangedField(
        name: field.name, old: field.new, new: field.old, origin: field.origin,
        cause: field.cause)
    }
    isRecreated = pair.isRecreated
  }

  /// The update from the new record back to the old one.
  var inverse: RecordPair { RecordPair(inverting: self) }
}

/// Distinguishes the schemas by which the records of one row were decoded. A copy of a schema would
/// retain ten references.
private struct SchemaIdentity: Sendable {
  let model: String
  let fields: [FieldSchema]

  init(_ schema: ModelSchema) {
    model = schema.name
    fields = schema.fields
  }

  /// Whether both schemas are certainly equal, without comparing them in full.
  func isSame(as other: ModelSchema) -> Bool {
    fields.withUnsafeBufferPointer { mine in
      other.fields.withUnsafeBufferPointer { $0.baseAddress == mine.baseAddress }
    } && model == other.name
  }
}

extension TouchedRow {
  /// Returns the fields that differ between both records, each with its origin and cause.
  fileprivate func changedFields(
    from before: [SQLValue], to after: [SQLValue], of schema: ModelSchema
  ) -> [ChangedField] {
    // A single commit lists exactly these fields; coalesced commits may not.
    if areExactly(from: before, to: after, of: schema) { return fields }
    return schema.fields.indices.filter { before[$0] != after[$0] }.map { index in
      let name = schema.fields[index].name
      let field = fields.first { $0.name == name }
      return ChangedField(
        name: name, old: before[index], new: after[index], origin: field?.origin ?? origin,
        cause: field?.cause)
    }
  }

  private func areExactly(
    from before: [SQLValue], to after: [SQLValue], of schema: ModelSchema
  ) -> Bool {
    var count = 0
    for index in before.indices where before[index] != after[index] {
      guard count < fields.count, fields[count].name == schema.fields[index].name,
        fields[count].old == before[index], fields[count].new == after[index]
      else { return false }
      count += 1
    }
    return count == fields.count
  }
}
