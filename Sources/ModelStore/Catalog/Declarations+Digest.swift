extension Declarations {
  /// A number that differs where opening a file with the declarations may do or refuse something
  /// else.
  ///
  /// - Parameter functions: Those that the store's connections have.
  /// - Throws: What the key of a record throws that a binding names.
  func digest(with functions: Set<SQLFunction>) throws -> Int64 {
    var hash = StableHash()
    hash.add(FiledCatalog.format)
    hash.add(CatalogText.format)
    hash.add(models)
    hash.add(migrations)
    hash.add(rules)
    hash.add(validators)
    hash.add(changeJournal?.rawValue)
    hash.add(functions.map { "\($0.name.asciiFolded) \($0.argumentCount)" }.sorted())
    hash.add(bindings.count)
    for binding in bindings { try binding.add(to: &hash) }
    return hash.integer
  }
}

extension ModelSchema: Digestible {
  func add(to hash: inout StableHash) {
    hash.add(name)
    hash.add(table)
    hash.add(kind.rawValue)
    hash.add(fields)
    hash.add(key)
    hash.add(isWithoutRowID)
    hash.add(uniques)
    hash.add(indexes)
    hash.add(rules)
    hash.add(lists)
    hash.add(isAdopted)
  }
}

extension FieldSchema: Digestible {
  func add(to hash: inout StableHash) {
    hash.add(name)
    hash.add(column)
    hash.add(type.rawValue)
    hash.add(form?.rawValue)
    hash.add(declaredType)
    hash.add(isOptional)
    hash.add(isUnique)
    hash.add(isRowID)
    hash.add(defaultSQL)
    hash.add(collation.name)
    hash.add(reference)
    hash.add(generated?.rawValue)
    hash.add(rules)
  }
}

extension ReferenceSchema: Digestible {
  func add(to hash: inout StableHash) {
    hash.add(table)
    hash.add(column)
    hash.add(onDelete.rawValue)
    hash.add(onUpdate.rawValue)
  }
}

extension IndexSchema: Digestible {
  func add(to hash: inout StableHash) {
    hash.add(name)
    hash.add(fields)
    hash.add(isUnique)
  }
}

extension RuleSchema: Digestible {
  func add(to hash: inout StableHash) {
    hash.add(name)
    hash.add(message)
    hash.add(condition)
  }
}

extension ListSchema: Digestible {
  func add(to hash: inout StableHash) {
    hash.add(name)
    hash.add(elementTable)
    hash.add(slotTable)
    hash.add(columns?.owner)
    hash.add(columns?.element)
    hash.add(columns?.position)
  }
}

extension Migration: Digestible {
  func add(to hash: inout StableHash) {
    hash.add(version)
    hash.add(name)
    hash.add(sql)
  }
}

extension Validator: Digestible {
  func add(to hash: inout StableHash) {
    hash.add(name)
    hash.add(models)
    hash.add(scope.rawValue)
    hash.add(fields.map { $0.sorted() })
    hash.add(problem?.message)
  }
}

extension Rule: Digestible {
  func add(to hash: inout StableHash) {
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
