/// The fields by which a binding finds one record of a model.
package struct BindingFinder: Hashable, Sendable {
  package let model: ModelSchema
  package let fields: [FieldSchema]
}

extension ResolvedBinding {
  /// The fields by which it finds other records, for each model in which they must be unique.
  package var finders: [BindingFinder] {
    let all: [BindingFinder] =
      switch formula {
      case .lookup(let lookup):
        [BindingFinder(model: lookup.source, fields: lookup.link.pairs.map(\.source))]
      case .derive: []
      case .aggregate(let aggregate):
        [BindingFinder(model: model, fields: aggregate.link.pairs.map(\.target))]
      case .twoWay(let twoWay):
        [
          BindingFinder(model: twoWay.left.model, fields: twoWay.link.pairs.map(\.source)),
          BindingFinder(model: model, fields: twoWay.link.pairs.map(\.target)),
        ]
      }
    return all.filter { !$0.fields.isEmpty }
  }
}
