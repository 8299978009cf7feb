/// The order of bindings along the flow of values. Bindings that form a cycle have no order and are
/// rejected.
///
/// Two-way bound fields count as one place; they may form a tree, but not a ring. Between places
/// values flow in one direction only. So every write terminates, whatever the expressions compute.
struct BindingOrder {
  private typealias Column = ResolvedBinding.Column

  private let bindings: [ResolvedBinding]
  private let generated: GeneratedColumns
  /// The positions of the bindings that write a column.
  private var writers: [Column: [Int]] = [:]
  private var finished: Set<Int> = []
  /// The current path of the walk: how values flow into what is read, and the bindings that read
  /// it.
  private var path: [(way: [Column], bindings: [Int])] = []
  private var order: [Int] = []

  /// Resolves `schemas` and sorts them so that each comes after the bindings it reads from.
  ///
  /// - Throws: ``StoreError``, as resolving does. Also when two bindings share a name, or share a
  ///   target without priorities, or form a cycle. The message lists the cycle.
  package static func sorted(
    _ schemas: [BindingSchema], in models: [ModelSchema], generated: GeneratedColumns
  ) throws(StoreError) -> [ResolvedBinding] {
    var names: Set<String> = []
    var resolved: [ResolvedBinding] = []
    for schema in schemas {
      resolved.append(try ResolvedBinding(schema, in: models))
      // Trigger names contain the binding's name, and SQLite folds ASCII case in names.
      guard names.insert(schema.name.asciiFolded).inserted else {
        if schema.name == "\(schema.target)" {
          throw StoreError(
            .unsupportedSchema,
            "\(schema.target) has two bindings. Remove one, or give each a name, a condition and a "
              + "priority of its own.",
            model: schema.target.model, field: schema.target.field)
        }
        throw StoreError(
          .unsupportedSchema,
          "Two bindings are called \(schema.name). Give one of them another name.")
      }
    }
    var order = try BindingOrder(ranked(resolved), generated)
    for index in order.bindings.indices { try order.visit(index) }
    return order.order.map { index in
      var binding = order.bindings[index]
      binding.origins = generated.origins(of: binding.sources)
      return binding
    }
  }

  private init(
    _ bindings: [ResolvedBinding], _ generated: GeneratedColumns
  ) throws(StoreError) {
    self.bindings = bindings
    self.generated = generated
    for (index, binding) in bindings.enumerated() {
      for target in binding.targets { writers[target, default: []].append(index) }
    }
    try checkEnds()
  }

  /// Gives each of several bindings of one field the conditions of the bindings with higher
  /// priority.
  private static func ranked(
    _ bindings: [ResolvedBinding]
  ) throws(StoreError) -> [ResolvedBinding] {
    var result = bindings
    var byTarget: [Column: [Int]] = [:]
    for (index, binding) in bindings.enumerated() {
      if case .twoWay = binding.formula { continue }
      byTarget[binding.targets[0], default: []].append(index)
    }
    for positions in byTarget.values.sorted(by: { $0[0] < $1[0] }) where positions.count > 1 {
      let sorted = positions.sorted {
        (bindings[$0].schema.priority ?? .min) > (bindings[$1].schema.priority ?? .min)
      }
      for (first, second) in zip(sorted, sorted.dropFirst()) {
        try check(bindings[first].schema, before: bindings[second].schema)
      }
      for (rank, position) in sorted.enumerated() {
        result[position].precedence = sorted[..<rank].compactMap { bindings[$0].condition }
      }
    }
    return result
  }

  private static func check(
    _ first: BindingSchema, before second: BindingSchema
  ) throws(StoreError) {
    let names = [first.name, second.name].sorted()
    guard let high = first.priority, let low = second.priority, high != low else {
      throw StoreError(
        .unsupportedSchema,
        "\(first.target) has two bindings, \(names[0]) and \(names[1]). Remove one, or give them "
          + "conditions and different priorities.",
        model: first.target.model, field: first.target.field)
    }
    guard first.condition != nil else {
      throw StoreError(
        .unsupportedSchema,
        "\(second.name) would never take effect: \(first.name) binds \(first.target) always and "
          + "has the higher priority. Give it a condition.",
        model: first.target.model, field: first.target.field)
    }
  }

  /// Checks that the ends of a two-way binding are only ends of other two-way bindings, and form no
  /// ring.
  private func checkEnds() throws(StoreError) {
    var neighbours: [Column: [Column]] = [:]
    for binding in bindings {
      guard case .twoWay = binding.formula else { continue }
      let ends = binding.targets
      for end in ends {
        if let other = writers[end]?.map({ bindings[$0] }).first(where: { !$0.isTwoWay }) {
          throw StoreError(
            .unsupportedSchema,
            "\(end.description) has two bindings, \(other.schema.name) and \(binding.schema.name)."
              + " Remove one: an end of a two-way binding follows nothing else.",
            model: binding.schema.target.model, field: binding.schema.target.field)
        }
      }
      if let way = Self.way(from: ends[0], to: ends[1], neighbours) {
        let ring = (way + [ends[0]]).map(\.description).joined(separator: " ↔ ")
        throw StoreError(
          .unsupportedSchema,
          "Two-way bindings form a cycle: \(ring). Remove one of them.",
          model: binding.schema.target.model, field: binding.schema.target.field)
      }
      neighbours[ends[0], default: []].append(ends[1])
      neighbours[ends[1], default: []].append(ends[0])
    }
  }

  private static func way(
    from start: Column, to end: Column, _ neighbours: [Column: [Column]]
  ) -> [Column]? {
    var ways = [[start]]
    var seen: Set<Column> = [start]
    while !ways.isEmpty {
      let way = ways.removeFirst()
      guard let last = way.last else { continue }
      if last == end { return way }
      for next in neighbours[last] ?? [] where seen.insert(next).inserted {
        ways.append(way + [next])
      }
    }
    return nil
  }

  /// Returns all two-way bindings connected to the one at `index`, or just that one.
  private func place(of index: Int) -> [Int] {
    guard bindings[index].isTwoWay else { return [index] }
    var found = [index]
    var next = 0
    while next < found.count {
      for column in bindings[found[next]].targets {
        found += (writers[column] ?? []).filter { !found.contains($0) }
      }
      next += 1
    }
    return found.sorted()
  }

  private mutating func visit(_ index: Int) throws(StoreError) {
    guard !finished.contains(index) else { return }
    let place = place(of: index)
    for way in place.flatMap({ bindings[$0].ways(through: generated) }) {
      guard let written = writers[way[0]] else { continue }
      path.append((way, place))
      // A place that reads one of its own fields reads itself.
      if let start = path.firstIndex(where: { !Set($0.bindings).isDisjoint(with: written) }) {
        throw circle(from: start, along: way)
      }
      for writer in written { try visit(writer) }
      path.removeLast()
    }
    for member in place where finished.insert(member).inserted { order.append(member) }
  }

  /// The walk goes from a field to what it reads; values flow in the opposite direction.
  private func circle(from start: Int, along way: [Column]) -> StoreError {
    let columns = way + path[start..<path.count - 1].reversed().flatMap(\.way) + [way[0]]
    let binding = bindings[path[start].bindings[0]]
    return StoreError(
      .unsupportedSchema,
      "Bindings form a cycle: \(columns.map(\.description).joined(separator: " → ")). "
        + "Remove one of them.",
      model: binding.schema.target.model, field: binding.schema.target.field)
  }
}

extension ResolvedBinding {
  fileprivate var isTwoWay: Bool {
    if case .twoWay = formula { true } else { false }
  }

  /// Returns the order of ``BindingOrder/sorted(_:in:generated:)``.
  package static func inDependencyOrder(
    _ schemas: [BindingSchema], in models: [ModelSchema],
    generated: GeneratedColumns = GeneratedColumns()
  ) throws(StoreError) -> [ResolvedBinding] {
    try BindingOrder.sorted(schemas, in: models, generated: generated)
  }
}
