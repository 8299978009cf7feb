import ModelStore

/// The records of an import that refer to others of it. It finds in memory which records cannot be
/// written because others are refused, so that a long chain of references is refused at once.
///
/// It follows references of one field to values that are equal byte for byte. SQLite itself finds
/// all others, such as references of several fields, one link of a chain in each round.
struct DependentRecords {
  /// The place of a record in the input.
  struct Place: Hashable {
    let model: String
    let key: [SQLValue]
  }

  /// A reference whose record is refused.
  struct Link: Hashable {
    let place: Place
    /// The field's position in the model, and its name.
    let index: Int
    let field: String
    /// The model that it refers to.
    let target: String
  }

  /// A value by which other records refer to a record.
  private struct Target: Hashable {
    let model: String
    let field: Int
    let value: SQLValue
  }

  private var links: [Target: [Link]] = [:]
  /// How others may refer to a record.
  private var targets: [Place: [Target]] = [:]

  /// - Parameters:
  ///   - records: The records as they are stored.
  ///   - isNew: Whether there was no record at the place before the import.
  init(_ records: [Place: DynamicRecord], isNew: (Place) -> Bool) {
    var models: [String: ModelSchema] = [:]
    for record in records.values { models[record.schema.table.lowercased()] = record.schema }
    var targetFields: [String: Set<Int>] = [:]
    for (place, record) in records {
      for (index, field) in record.schema.fields.enumerated() {
        guard let reference = field.reference, !record.values[index].isNull,
          let model = models[reference.table.lowercased()],
          let target = Self.target(of: reference, in: model)
        else { continue }
        targetFields[model.name, default: []].insert(target)
        links[Target(model: model.name, field: target, value: record.values[index]), default: []]
          .append(Link(place: place, index: index, field: field.name, target: model.name))
      }
    }
    // Where the import updates a record, the record stays when the import's values are refused.
    for (place, record) in records where isNew(place) {
      targets[place] = targetFields[place.model]?.map { field in
        Target(model: place.model, field: field, value: record.values[field])
      }
    }
  }

  /// The position of the field that a reference of one field names; nil where equal values need not
  /// be equal bytes.
  private static func target(of reference: ReferenceSchema, in model: ModelSchema) -> Int? {
    let index: Int? =
      if let column = reference.column?.lowercased() {
        model.fields.firstIndex { $0.column.lowercased() == column }
      } else {
        model.key.count == 1 ? model.fieldIndex(named: model.key[0]) : nil
      }
    return index.flatMap { model.fields[$0].collation == .binary ? $0 : nil }
  }

  /// The records that refer to `refused`, then those that refer to these, and so on. Each is there
  /// once, with its references to the records that are refused before it, in the order in which
  /// SQLite lists them.
  func layers(after refused: Set<Place>) -> [[Place: [Link]]] {
    var gone = refused
    var last = refused
    var layers: [[Place: [Link]]] = []
    while true {
      var layer: [Place: [Link]] = [:]
      for target in last.lazy.flatMap({ targets[$0] ?? [] }) {
        for link in links[target] ?? [] where !gone.contains(link.place) {
          layer[link.place, default: []].append(link)
        }
      }
      guard !layer.isEmpty else { return layers }
      // https://sqlite.org/pragma.html#pragma_foreign_key_list has the last reference first.
      layers.append(layer.mapValues { $0.sorted { $0.index > $1.index } })
      last = Set(layer.keys)
      gone.formUnion(last)
    }
  }
}
