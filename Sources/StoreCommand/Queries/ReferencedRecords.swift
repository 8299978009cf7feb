import ModelStore

/// The records to which references lead, read once while a result is written. Those read last are
/// kept, up to a limit, because many records refer to the same ones.
final class ReferencedRecords {
  private struct Place: Hashable {
    let model: String
    let field: Int
    let value: SQLValue
  }

  private static let keptMax = 4096

  private var kept: [Place: DynamicRecord?] = [:]

  /// - Parameter read: Reads a record that is not kept.
  func find(
    _ model: ModelSchema, _ field: Int, _ value: SQLValue, read: Expansion.Find
  ) throws -> DynamicRecord? {
    let place = Place(model: model.name, field: field, value: value)
    if let found = kept[place] { return found }
    let found = try read(model, field, value)
    if kept.count == Self.keptMax { kept.removeAll(keepingCapacity: true) }
    kept.updateValue(found, forKey: place)
    return found
  }
}

extension TransactionReads where Self: ~Copyable {
  /// The record of `model` whose field at `index` has `value`; nil without one.
  borrowing func referenced(
    _ model: ModelSchema, _ index: Int, _ value: SQLValue
  ) throws -> DynamicRecord? {
    if model.keyIndices == [index] { return try find(model, key: [value]) }
    let query = StoreQuery<DynamicRecord>(model)
      .filter(.comparison(.field(index), .equal, .value(value)))
    return try fetchFirst(query)
  }
}
