extension Declarations {
  /// Returns a digest of everything that can change how opening a file behaves.
  ///
  /// - Parameter functions: The functions of the store's connections.
  /// - Throws: The error for the key of a record that a binding names.
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
    hash.add(replaces)
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
