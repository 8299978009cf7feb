/// The bindings that a file should have, compiled to the objects that keep them. A plain value.
///
/// A binding that only the file has is left unchanged: ``undeclared(in:)`` lists it.
package struct CompiledBindings: Sendable {
  /// Each binding comes after those it reads from.
  package let bindings: [BindingTriggers]

  /// - Throws: ``StoreError`` when a binding is not supported, or conflicts with the others.
  package init(
    _ schemas: [BindingSchema], in models: [ModelSchema],
    generated: GeneratedColumns = GeneratedColumns(), uniqueSets: UniqueSets = UniqueSets()
  ) throws(StoreError) {
    bindings = try ResolvedBinding.inDependencyOrder(schemas, in: models, generated: generated)
      .map { binding in
        var binding = binding
        binding.uniqueSets = uniqueSets
        return BindingTriggers(binding)
      }
  }

  private init(_ bindings: [BindingTriggers]) {
    self.bindings = bindings
  }

  /// Returns the bindings for which `isKept` returns true.
  package func keeping(_ isKept: (BindingTriggers) throws -> Bool) rethrows -> CompiledBindings {
    CompiledBindings(try bindings.filter(isKept))
  }

  /// Returns the changes to make in a file whose bindings have the objects `installed`.
  package func plan(from installed: InstalledObjects) -> SchemaPlan {
    let owners = Set(bindings.map(\.owner))
    var plan = SchemaPlan(from: bindings.flatMap(\.objects), to: installed) { object in
      object.owner.map(owners.contains) ?? false
    }
    let changed = plan.differences
    plan.following = bindings.filter { changed[$0.owner] != nil }
    return plan
  }

  /// Returns the names of bindings that only the file has, sorted.
  package func undeclared(in installed: InstalledObjects) -> [String] {
    let declared = Set(bindings.map(\.owner))
    return Set(installed.objects.compactMap(\.owner)).subtracting(declared).map(\.name).sorted()
  }

  /// Returns the differences of `installed`, in the order of ``bindings``. Bindings that only the
  /// file has follow.
  package func drift(in installed: InstalledObjects) -> [SchemaDrift] {
    let differences = plan(from: installed).differences
    let declared = bindings.compactMap { binding in
      differences[binding.owner].map { SchemaDrift(binding.owner, $0) }
    }
    let undeclared = undeclared(in: installed).map { name in
      let owner = SchemaDrift.Owner.binding(name)
      return SchemaDrift(
        owner, installed.objects.filter { $0.owner == owner }.map { .init($0, .unexpected) })
    }
    return declared + undeclared
  }

  /// Returns the bindings through which values flow into `columns`, sources first. These are the
  /// bindings of `columns` and of all columns that they depend on.
  package func chain(into columns: Set<ResolvedBinding.Column>) -> [BindingSchema] {
    var wanted = columns
    var chain: [BindingSchema] = []
    // Both ends of a two-way binding depend on each other, so one backward pass is not enough.
    var isGrowing = true
    while isGrowing {
      isGrowing = false
      for binding in bindings
      where !wanted.isDisjoint(with: binding.flow.targets) && !chain.contains(binding.binding) {
        chain.append(binding.binding)
        wanted.formUnion(binding.flow.origins.union(binding.flow.targets))
        isGrowing = true
      }
    }
    return bindings.map(\.binding).filter(chain.contains)
  }
}

extension BindingTriggers {
  /// The owner of the binding's objects.
  package var owner: SchemaObject.Owner { .binding(binding.name) }
}
