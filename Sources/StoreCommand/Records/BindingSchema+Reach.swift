import ModelStore

extension BindingSchema {
  /// The fields that follow: both ends of a two-way binding.
  var boundFields: [Field] {
    if case .twoWay(let twoWay) = formula { [twoWay.left, target] } else { [target] }
  }

  /// The models of which records may change when its fields do: its own, and those of the bindings
  /// among `others` that follow it; in name order.
  func writtenModels(among others: [BindingSchema], in schema: StoreSchema) -> [String] {
    let edges = others.map { other in
      (ends: other.boundFields, reads: other.reads(in: schema) + other.boundFields)
    }
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

  /// The fields that it reads; none when it names what is not there any more.
  private func reads(in schema: StoreSchema) -> [Field] {
    do throws(StoreError) {
      return try inputs(in: schema.models)
    } catch {
      return []
    }
  }
}
