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

extension Migration: Digestible {
  package func add(to hash: inout StableHash) {
    hash.add(version)
    hash.add(name)
    hash.add(sql)
    hash.add(isSwift)
  }
}

extension Validator: Digestible {
  package func add(to hash: inout StableHash) {
    hash.add(name)
    hash.add(models)
    hash.add(scope.rawValue)
    hash.add(fields.map { $0.sorted() })
    hash.add(problem?.message)
  }
}
