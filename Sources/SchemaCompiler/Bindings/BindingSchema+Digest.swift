extension BindingSchema.Field: Digestible {
  package func add(to hash: inout StableHash) {
    hash.add(model)
    hash.add(field)
  }
}

extension BindingSchema.Match: Digestible {
  package func add(to hash: inout StableHash) {
    hash.add(source)
    hash.add(target)
  }
}

extension BindingSchema.TwoWay: Digestible {
  package func add(to hash: inout StableHash) {
    hash.add(left)
    hash.add(match)
    hash.add(forward)
    hash.add(backward)
    hash.add(conflict.rawValue)
    hash.add(initially.rawValue)
  }
}

extension BindingSchema.Formula: Digestible {
  package func add(to hash: inout StableHash) {
    switch self {
    case .copy(let source, let through):
      hash.add(0)
      hash.add(source)
      hash.add(through)
    case .derive(let sql):
      hash.add(1)
      hash.add(sql)
    case .lookup(let lookup):
      hash.add(2)
      hash.add(lookup.source)
      hash.add(lookup.match)
      hash.add(lookup.place)
      hash.add(lookup.transform)
      hash.add(lookup.keepsLast)
    case .aggregate(let aggregate):
      hash.add(3)
      hash.add(aggregate.function.rawValue)
      hash.add(aggregate.model)
      hash.add(aggregate.field)
      hash.add(aggregate.expression)
      hash.add(aggregate.scale)
      hash.add(aggregate.order)
      hash.add(aggregate.separator)
      hash.add(aggregate.match)
      hash.add(aggregate.place)
      hash.add(aggregate.condition)
    case .twoWay(let twoWay):
      hash.add(4)
      hash.add(twoWay)
    }
  }
}
