/// The rules that a file should keep beside its tables, compiled to the objects that keep them. A
/// plain value.
package struct CompiledRules: Sendable {
  package let rules: [RuleObjects]
  /// The names of objects that are left as they are.
  private let untouched: Set<String>

  /// - Parameters:
  ///   - rules: All rules of the file that `models` can tell of.
  ///   - unresolved: The others, whose triggers and indexes stay as they are.
  ///   - catalog: What the file has; nil where no rule looks at evicted records.
  /// - Throws: ``StoreError`` when a rule cannot be kept, or when two have one name or two of their
  ///   triggers would.
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
    // Sorted, so that the same rules always make the same triggers.
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
      // An index may be called like a trigger.
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

  /// What has to happen to a file whose rules have `installed`.
  package func plan(from installed: InstalledObjects) -> SchemaPlan {
    SchemaPlan(from: rules.flatMap(\.objects), to: installed) { !untouched.contains($0.name) }
  }

  /// How `installed` differs, by the names of rules.
  package func drift(in installed: InstalledObjects) -> [SchemaDrift] {
    plan(from: installed).differences.sorted { $0.key.name < $1.key.name }
      .map { SchemaDrift($0.key, $0.value) }
  }
}
