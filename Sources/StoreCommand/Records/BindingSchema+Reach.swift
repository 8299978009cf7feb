import ModelStore

extension BindingSchema {
  /// The models whose records may change with its fields: its own, and those that follow it through
  /// bindings in `others` and foreign keys; in name order.
  func writtenModels(among others: [BindingSchema], in store: Store) throws -> [String] {
    let models = store.schema.models
    let bound = others.map { other in
      (ends: other.boundFields, reads: other.reads(in: models) + other.boundFields)
    }
    let edges = bound + (try store.computedFields().map { (ends: [$0], reads: $1) })
    var fields = Set(boundFields)
    var isGrowing = true
    while isGrowing {
      let count = fields.count
      for edge in edges where !fields.isDisjoint(with: edge.reads) {
        fields.formUnion(edge.ends)
      }
      isGrowing = fields.count > count
    }
    return Set(fields.map(\.model)).sorted()
  }

  /// The fields that it reads; empty if a field or model that it names was removed.
  private func reads(in models: [ModelSchema]) -> [Field] {
    do throws(StoreError) {
      return try inputs(in: models)
    } catch {
      return []
    }
  }
}
