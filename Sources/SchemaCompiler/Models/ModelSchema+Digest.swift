// The contents of a digest of models: each stored property of their parts.

extension ModelSchema: Digestible {
  package func add(to hash: inout StableHash) {
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
  package func add(to hash: inout StableHash) {
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
  package func add(to hash: inout StableHash) {
    hash.add(table)
    hash.add(column)
    hash.add(onDelete.rawValue)
    hash.add(onUpdate.rawValue)
  }
}

extension IndexSchema: Digestible {
  package func add(to hash: inout StableHash) {
    hash.add(name)
    hash.add(fields)
    hash.add(isUnique)
  }
}

extension RuleSchema: Digestible {
  package func add(to hash: inout StableHash) {
    hash.add(name)
    hash.add(message)
    hash.add(condition)
  }
}

extension ListSchema: Digestible {
  package func add(to hash: inout StableHash) {
    hash.add(name)
    hash.add(elementTable)
    hash.add(slotTable)
    hash.add(columns?.owner)
    hash.add(columns?.element)
    hash.add(columns?.position)
  }
}
