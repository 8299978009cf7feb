extension Rule: Digestible {
  package func add(to hash: inout StableHash) {
    hash.add(name)
    hash.add(model)
    hash.add(fields)
    hash.add(message)
    hash.add(remedy)
    hash.add(severity.rawValue)
    switch demand {
    case .required: hash.add(0)
    case .condition(let sql):
      hash.add(1)
      hash.add(sql)
    case .unique(let condition):
      hash.add(2)
      hash.add(condition)
    case .reference(let model):
      hash.add(3)
      hash.add(model)
    case .immutable: hash.add(4)
    case .countAtMost(let count, let fields):
      hash.add(5)
      hash.add(count)
      hash.add(fields)
    case .sumAtMost(let limit, let fields):
      hash.add(6)
      hash.add(limit)
      hash.add(fields)
    case .noOverlap(let fields):
      hash.add(7)
      hash.add(fields)
    }
  }
}
