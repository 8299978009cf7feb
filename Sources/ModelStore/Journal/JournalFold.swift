/// The net change of each record in entries of the journal: from its first old values to its last
/// new values. Changes that cancel out are omitted.
///
/// The newest values of a record come from its table. The entries, applied backwards, give the
/// older values. If the newest entry disagrees with the table, the journal has missed a change.
struct JournalFold {
  /// The entries do not explain the current values of a record.
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
  /// For each layout that occurs, the index of its fields in the current model.
  private var places: [Int64: [Int?]] = [:]

  /// - Parameter schemas: The models whose changes are requested.
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

  /// Returns the net changes, ordered by the first entry of each record. It also returns the models
  /// whose journal is incomplete or has a record that cannot be read.
  ///
  /// - Parameter newest: Reads a record as it is after the last entry; nil if it does not exist.
  /// - Throws: The error that `newest` throws, except for a value of a wrong type.
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
        // A key with another spelling belongs to another record:
        // https://sqlite.org/datatype3.html#collation
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

  /// Returns the record before `records`, given its values after them.
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
