/// Puts bindings in the order in which values flow, and refuses those that have none.
///
/// Fields that follow each other both ways count as one place: they may form a tree, not a ring.
/// Between places values flow one way and never back, so every write comes to rest, whatever the
/// expressions make of the values.
struct BindingOrder {
  private typealias Column = ResolvedBinding.Column

  private let bindings: [ResolvedBinding]
  private let generated: GeneratedColumns
  /// Which bindings write a column, by position.
  private var writers: [Column: [Int]] = [:]
  private var finished: Set<Int> = []
  /// How values come into what is read, and who reads it.
  private var path: [(way: [Column], bindings: [Int])] = []
  private var order: [Int] = []

  /// Resolves `schemas` and orders them so that each comes after the bindings it reads from.
  ///
  /// - Throws: ``StoreError``, as resolving does, and when two bindings share a name, or a target
  ///   without priorities, or when bindings go round in a circle, which the message spells out.
  package static func sorted(
    _ schemas: [BindingSchema], in models: [ModelSchema], generated: GeneratedColumns
  ) throws(StoreError) -> [ResolvedBinding] {
    var names: Set<String> = []
    var resolved: [ResolvedBinding] = []
    for schema in schemas {
      resolved.append(try ResolvedBinding(schema, in: models))
      // Trigger names carry the binding's name, and SQLite folds ASCII case in names.
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

  /// Gives each of several bindings of one field the conditions of those that go before it.
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
        "\(second.name) would never be in force: \(first.name) binds \(first.target) always and "
          + "has the higher priority. Give it a condition.",
        model: first.target.model, field: first.target.field)
    }
  }

  /// An end of a two-way binding is an end of others like it at most, and they form no ring.
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
          "Two-way bindings go round in a circle: \(ring). Remove one of them.",
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

  /// All two-way bindings that hang together with the one at `index`, or just it.
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
      // What reads a field of its own place reads itself.
      if let start = path.firstIndex(where: { !Set($0.bindings).isDisjoint(with: written) }) {
        throw circle(from: start, along: way)
      }
      for writer in written { try visit(writer) }
      path.removeLast()
    }
    for member in place where finished.insert(member).inserted { order.append(member) }
  }

  /// The walk goes from a field to what it reads; values flow the other way.
  private func circle(from start: Int, along way: [Column]) -> StoreError {
    let columns = way + path[start..<path.count - 1].reversed().flatMap(\.way) + [way[0]]
    let binding = bindings[path[start].bindings[0]]
    return StoreError(
      .unsupportedSchema,
      "Bindings go round in a circle: \(columns.map(\.description).joined(separator: " → ")). "
        + "Remove one of them.",
      model: binding.schema.target.model, field: binding.schema.target.field)
  }
}

extension ResolvedBinding {
  fileprivate var isTwoWay: Bool {
    if case .twoWay = formula { true } else { false }
  }

  /// As ``BindingOrder/sorted(_:in:generated:)``.
  package static func inDependencyOrder(
    _ schemas: [BindingSchema], in models: [ModelSchema],
    generated: GeneratedColumns = GeneratedColumns()
  ) throws(StoreError) -> [ResolvedBinding] {
    try BindingOrder.sorted(schemas, in: models, generated: generated)
  }
}
