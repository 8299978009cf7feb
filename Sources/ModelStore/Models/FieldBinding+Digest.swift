extension FieldBinding {
  /// Adds the binding as declared. The meaning of its names depends only on the models.
  ///
  /// - Throws: The error of converting the key of a singleton.
  func add(to hash: inout StableHash) throws {
    hash.add(name)
    hash.add(target)
    hash.add(condition)
    hash.add(priority)
    hash.add(mode?.rawValue)
    hash.add(functions)
    try formula.add(to: &hash)
  }
}

extension FieldBinding.Endpoint: Digestible {
  func add(to hash: inout StableHash) {
    switch self {
    case .field(let field):
      hash.add(0)
      hash.add(field)
    case .notStored(let model, let type):
      hash.add(1)
      hash.add(model)
      hash.add(type)
    case .text(let text):
      hash.add(2)
      hash.add(text)
    }
  }
}

extension FieldBinding.Formula {
  fileprivate func add(to hash: inout StableHash) throws {
    switch self {
    case .copy(let source, let through):
      hash.add(0)
      hash.add(source)
      hash.add(through)
    case .derive(let sql):
      hash.add(1)
      hash.add(sql)
    case .lookup(let source, let link, let transform, let keepsLast):
      hash.add(2)
      hash.add(source)
      try link.add(to: &hash)
      hash.add(transform)
      hash.add(keepsLast)
    case .aggregate(let parts, let link, let condition):
      hash.add(3)
      hash.add(parts.function.rawValue)
      hash.add(parts.model)
      hash.add(parts.field)
      hash.add(parts.expression)
      hash.add(parts.scale)
      hash.add(parts.order)
      hash.add(parts.separator)
      try link.add(to: &hash)
      hash.add(condition)
    case .twoWay(let left, let link, let twoWay):
      hash.add(4)
      hash.add(left)
      try link.add(to: &hash)
      hash.add(twoWay)
    case .same(let source):
      hash.add(5)
      hash.add(source)
    case .schema(let schema):
      hash.add(6)
      hash.add(schema.formula)
    }
  }
}

extension FieldBinding.Link {
  fileprivate func add(to hash: inout StableHash) throws {
    switch self {
    case .sameRecord: hash.add(0)
    case .through(let endpoint, let isOfTarget):
      hash.add(1)
      hash.add(endpoint)
      hash.add(isOfTarget)
    case .match(let pairs):
      hash.add(2)
      hash.add(pairs.count)
      for pair in pairs {
        hash.add(pair.source)
        hash.add(pair.target)
      }
    case .place(let key):
      hash.add(3)
      hash.add(try key())
    }
  }
}
