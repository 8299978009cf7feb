/// The rules that a file should enforce beside its tables, compiled to their objects. A plain
/// value.
package struct CompiledRules: Sendable {
  package let rules: [RuleObjects]
  /// The names of objects that are left unchanged.
  private let untouched: Set<String>

  /// - Parameters:
  ///   - rules: All rules of the file that `models` can resolve.
  ///   - unresolved: The other rules, whose triggers and indexes are left unchanged.
  ///   - catalog: The file's schema; nil if no rule concerns evicted records.
  /// - Throws: ``StoreError`` when a rule is not supported, or when two rules or their triggers
  ///   would have the same name.
  package init(
    _ rules: [Rule], in models: [ModelSchema], leaving unresolved: [Rule] = [], catalog: Catalog?
  ) throws(StoreError) {
    let untouched = Set(unresolved.flatMap { RuleObjects.objectNames(ofRule: $0.name) })
    self.untouched = untouched
    var names = Set(models.flatMap { $0.allRules.map(\.rule.name.asciiFolded) })
    names.formUnion(unresolved.map(\.name.asciiFolded))
    var resolved: [ResolvedRule] = []
    for rule in rules {
      guard names.insert(rule.name.asciiFolded).inserted else {
        throw StoreError(
          .configurationConflict,
          "There is another rule called \(rule.name); names are unique in a store.",
          model: rule.model)
      }
      resolved.append(try ResolvedRule(rule, in: models))
    }
    // Sorted, so that the same rules always compile to the same triggers.
    let tables = catalog.map {
      EvictionTables(
        $0, for: resolved.sorted { $0.rule.name < $1.rule.name }, leaving: untouched)
    }
    self.rules = resolved.map { RuleObjects($0, evictions: tables ?? EvictionTables()) }
    try checkNames()
  }

  private func checkNames() throws(StoreError) {
    var owners: [String: String] = [:]
    for made in rules {
      let rule = made.rule.rule
      // An index may have the same name as a trigger.
      for object in made.objects where object.kind != .index {
        let owner = owners.updateValue(rule.name, forKey: object.name.asciiFolded)
        guard let owner else { continue }
        throw StoreError(
          .configurationConflict,
          "The rules \(owner) and \(rule.name) would both have a \(object.kind.rawValue) called \(object.name). Give one of them another name.",
          model: rule.model)
      }
    }
  }

  /// Returns the changes to make in a file whose rules have the objects `installed`.
  package func plan(from installed: InstalledObjects) -> SchemaPlan {
    SchemaPlan(from: rules.flatMap(\.objects), to: installed) { !untouched.contains($0.name) }
  }

  /// Returns the differences of `installed`, sorted by the names of rules.
  package func drift(in installed: InstalledObjects) -> [SchemaDrift] {
    plan(from: installed).differences.sorted { $0.key.name < $1.key.name }
      .map { SchemaDrift($0.key, $0.value) }
  }
}
