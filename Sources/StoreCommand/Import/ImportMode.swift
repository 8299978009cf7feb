import ArgumentParser
import ModelStore

/// What an import does with a record that the store has already, and with one that it has not.
enum ImportMode: CaseIterable, EnumerableFlag {
  case insert, upsert, updateOnly, skipExisting, replace

  static func name(for mode: ImportMode) -> NameSpecification { .long }

  static func help(for mode: ImportMode) -> ArgumentHelp? {
    switch mode {
    case .insert: "Refuse a record that the store has already (default)."
    case .upsert: "Update the record if the key exists."
    case .updateOnly: "Update records that exist, and skip the others."
    case .skipExisting: "Skip records that exist, and insert the others."
    case .replace:
      """
      Make the model equal to the input: also delete the records that the input does not have. \
      Asks first.
      """
    }
  }

  /// Whether the store is searched for each record.
  var looksUp: Bool {
    switch self {
    case .insert: false
    case .upsert, .updateOnly, .skipExisting, .replace: true
    }
  }
}

/// The fields by which an import finds the record that the store has already.
struct RecordIdentity {
  let schema: ModelSchema
  /// The names of the fields; the key, unless others were named.
  let names: [String]
  private let indices: [Int]
  private var isKey: Bool { names == schema.key }

  /// - Parameter names: Fields whose values together are unique; nil for the key.
  /// - Throws: ``CommandError`` for unknown fields and for fields that no unique set has.
  init(of schema: ModelSchema, names: [String]?) throws {
    self.schema = schema
    self.names = names ?? schema.key
    indices = try self.names.map { name in
      _ = try schema.requiredField(named: name)
      return schema.fieldIndex(named: name) ?? 0
    }
    guard let names, Set(names) != Set(schema.key) else { return }
    let sets = Self.uniqueSets(of: schema)
    guard sets.contains(where: { Set($0) == Set(names) }) else {
      let known = ([schema.key] + sets).map { $0.joined(separator: ",") }
      throw CommandError.usage(
        "\(schema.name) may have several records with the same "
          + "\(names.joined(separator: ",")), so it cannot be the key of an import. "
          + "These fields are unique: \(known.joined(separator: "; ")).",
        hint: "storecli rules add --help", model: schema.name, field: names[0])
    }
  }

  private static func uniqueSets(of schema: ModelSchema) -> [[String]] {
    schema.fields.filter(\.isUnique).map { [$0.name] } + schema.uniques
      + schema.indexes.filter(\.isUnique).map(\.fields)
  }

  /// The record that the store has with the identity of `values`; nil for none.
  ///
  /// - Parameter needsAll: Whether a record without a value for one of the fields is refused.
  ///   Without a key, for example, SQLite chooses one.
  func find(
    _ values: [String: SQLValue], needsAll: Bool, _ transaction: borrowing WriteTransaction
  ) throws -> DynamicRecord? {
    var found: [SQLValue] = []
    for name in names {
      guard let value = values[name], !value.isNull else {
        guard needsAll || !isKey else { return nil }
        throw StoreError(
          .invalidValue, "\(name) has no value, so no \(schema.name) can be found by it.",
          model: schema.name, field: name)
      }
      found.append(value)
    }
    return try OpenedStore.reading {
      guard !isKey else { return try transaction.find(schema, key: found) }
      let terms = zip(indices, found).map { Condition.comparison(.field($0), .equal, .value($1)) }
      return try transaction.fetchFirst(
        StoreQuery<DynamicRecord>(schema).filter(Condition.and(terms)))
    }
  }
}
