import ModelStore

extension BindingWorkload {
  var modelStoreContenders: [Contender] {
    Self.kinds.map { contender($0.name, $0.bindings) }
  }

  /// The bindings of each contender, for this and other libraries.
  static let kinds: [(name: String, bindings: [FieldBinding])] = [
    ("no binding", []),
    ("derived, the same", [.derive(\BoundItem.derived, from: "value > 0")]),
    ("derived, changed", [.derive(\BoundItem.derived, from: "value * 2")]),
    ("counted, the same", [aggregated(.count(\BoundItem.value))]),
    ("summed, changed", [aggregated(.sum(\BoundItem.value))]),
    ("the smallest, changed at times", [aggregated(.minimum(\BoundItem.value))]),
    (
      "both ways, changed",
      [
        .twoWay(
          \BoundItem.value, \BoundItem.partner, forward: "value + 1", backward: "partner - 1")
      ]
    ),
  ]

  private static func aggregated(_ aggregation: Aggregation<BoundItem>) -> FieldBinding {
    .aggregate(aggregation, into: \BoundItem.aggregate, through: \BoundItem.owner)
  }

  /// Each item counts for one of a thousand others.
  private func contender(_ name: String, _ bindings: [FieldBinding]) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      let store = try makeStore(at: directory.file("items.sqlite"), bindings)
      var step: Int64 = 0
      return Session(policy: try store.policy()) {
        step += 1
        let timing = try Stopwatch.whole(operations: count) {
          try store.write { tx in
            for id in 1...Int64(count) { try tx.set(\BoundItem.value, to: id + step, for: id) }
          }
        }
        try store.checkpoint()
        guard try store.bindingFindings().isEmpty else {
          throw BenchmarkFailure("\(name): a bound value is wrong")
        }
        return Measurement(timing)
      }
    }
  }

  /// A store with the items.
  func makeStore(at path: String, _ bindings: [FieldBinding]) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    configuration.cacheSize = 64 * 1024 * 1024
    configuration.checkpointFrameCount = Int.max
    let store = try Store(
      at: path, models: BoundItem.self, bindings: bindings, configuration: configuration)
    try store.write { tx in
      for id in 1...Int64(count) { try tx.insert(BoundItem(id: id, owner: id % 1000 + 1)) }
    }
    return store
  }
}
