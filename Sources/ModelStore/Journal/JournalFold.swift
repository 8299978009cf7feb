/// What entries of the change journal come to, record by record: first old image, last new one,
/// with everything that cancelled out left out.
///
/// Only the newest image of a record is read from its table; from there the entries lead back. They
/// must lead to the newest entry's value, or the journal has missed something.
struct JournalFold {
  /// The journal does not tell how a record became what it is.
  struct Inconsistency: Error {
    let model: String
  }

  private struct Key: Hashable {
    let model: String
    let key: [SQLValue]
  }

  private let layouts: JournalLayouts
  private let schemas: [String: ModelSchema]
  private var order: [Key] = []
  private var records: [Key: [LoggedRecord]] = [:]
  /// Of each layout that occurs, where its fields are in the model now.
  private var places: [Int64: [Int?]] = [:]

  /// - Parameter schemas: The models whose changes are wanted.
  init(layouts: JournalLayouts, schemas: [ModelSchema]) {
    self.layouts = layouts
    self.schemas = Dictionary(schemas.map { ($0.name, $0) }) { first, _ in first }
  }

  mutating func add(_ record: LoggedRecord) {
    guard let layout = layouts.all[record.layout], let schema = schemas[layout.model] else {
      return
    }
    if places[record.layout] == nil { places[record.layout] = layout.places(in: schema) }
    let key = Key(model: layout.model, key: record.key)
    if records[key] == nil { order.append(key) }
    records[key, default: []].append(record)
  }

  /// The net changes, ordered by the first touch of each record, and the models of which the
  /// journal does not tell everything or a record cannot be read.
  ///
  /// - Parameter newest: Reads a record as it is after the last entry; nil when it is not there.
  /// - Throws: What `newest` throws, but for a value that is not what its field holds.
  func changes(
    newest: (ModelSchema, _ key: [SQLValue]) throws -> [SQLValue]?
  ) throws -> (changes: [RecordChange], untold: Set<String>) {
    var changes: [RecordChange] = []
    var untold: Set<String> = []
    for key in order where !untold.contains(key.model) {
      guard let schema = schemas[key.model], let records = records[key] else { continue }
      guard records.allSatisfy(\.malformedTexts.isEmpty) else {
        untold.insert(key.model)
        continue
      }
      do {
        var new = try newest(schema, key.key)
        // A key of another spelling is another record: https://sqlite.org/datatype3.html#collation
        if let image = new, schema.keyIndices.map({ image[$0] }) != key.key { new = nil }
        let old = try rewound(new, through: records, of: schema)
        if let change = change(of: schema, key.key, from: old, to: new, records) {
          changes.append(change)
        }
      } catch is Inconsistency {
        untold.insert(key.model)
      } catch let error as StoreError where error.code == .invalidValue {
        untold.insert(key.model)
      }
    }
    return (changes, untold)
  }

  /// The record as it was before `records`, given how it is after them.
  private func rewound(
    _ newest: [SQLValue]?, through records: [LoggedRecord], of schema: ModelSchema
  ) throws(Inconsistency) -> [SQLValue]? {
    var image = newest
    for record in records.reversed() {
      guard let fields = places[record.layout], record.malformedTexts.isEmpty else {
        throw Inconsistency(model: schema.name)
      }
      switch record.kind {
      case .insert:
        guard let present = image, holds(present, record.image, at: fields) else {
          throw Inconsistency(model: schema.name)
        }
        image = nil
      case .delete:
        guard image == nil,
          fields.count(where: { $0 != nil }) + schema.key.count == schema.fields.count
        else { throw Inconsistency(model: schema.name) }
        var old = [SQLValue](repeating: .null, count: schema.fields.count)
        for (index, value) in zip(schema.keyIndices, record.key) { old[index] = value }
        for (field, value) in zip(fields, record.image) {
          if let field { old[field] = value }
        }
        image = old
      case .update:
        guard var present = image else { throw Inconsistency(model: schema.name) }
        for change in record.changes {
          guard let field = fields[change.place] else { continue }
          guard present[field] == change.new else { throw Inconsistency(model: schema.name) }
          present[field] = change.old
        }
        image = present
      }
    }
    return image
  }

  private func holds(_ image: [SQLValue], _ values: [SQLValue], at fields: [Int?]) -> Bool {
    zip(fields, values).allSatisfy { field, value in field.map { image[$0] == value } ?? true }
  }

  private func change(
    of schema: ModelSchema, _ key: [SQLValue], from old: [SQLValue]?, to new: [SQLValue]?,
    _ records: [LoggedRecord]
  ) -> RecordChange? {
    var fields: [ChangedField] = []
    if let old, let new {
      fields = schema.fields.indices.filter { old[$0] != new[$0] }.map { index in
        ChangedField(
          name: schema.fields[index].name, old: old[index], new: new[index], origin: .foreign)
      }
      if fields.isEmpty { return nil }
    } else if old == nil, new == nil {
      return nil
    }
    return RecordChange(
      model: schema.name, key: key, old: old, new: new, fields: fields, origin: .foreign,
      isRecreated: old != nil && new != nil && records.contains { $0.kind == .delete })
  }
}
