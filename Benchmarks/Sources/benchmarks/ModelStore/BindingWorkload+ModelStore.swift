import ModelStore

extension BindingWorkload {
  var modelStoreContenders: [Contender] {
    [
      contender("no binding", []),
      contender("derived, the same", [.derive(\BoundItem.derived, from: "value > 0")]),
      contender("derived, changed", [.derive(\BoundItem.derived, from: "value * 2")]),
      contender(
        "counted, the same",
        [
          .aggregate(
            .count(\BoundItem.value), into: \BoundItem.aggregate, through: \BoundItem.owner)
        ]),
      contender(
        "summed, changed",
        [.aggregate(.sum(\BoundItem.value), into: \BoundItem.aggregate, through: \BoundItem.owner)]
      ),
      contender(
        "the smallest, changed at times",
        [
          .aggregate(
            .minimum(\BoundItem.value), into: \BoundItem.aggregate, through: \BoundItem.owner)
        ]),
      contender(
        "both ways, changed",
        [
          .twoWay(
            \BoundItem.value, \BoundItem.partner, forward: "value + 1", backward: "partner - 1")
        ]),
    ]
  }

  /// Each item counts for one of a thousand others.
  private func contender(_ name: String, _ bindings: [Binding]) -> Contender {
    Contender(library: .modelStore, name: name) { directory in
      var configuration = StoreConfiguration()
      configuration.durability = .normal
      configuration.cacheSize = 64 * 1024 * 1024
      configuration.checkpointFrameCount = Int.max
      let store = try Store(
        at: directory.file("items.sqlite"), models: BoundItem.self, bindings: bindings,
        configuration: configuration)
      try store.write { tx in
        for id in 1...Int64(count) {
          try tx.insert(BoundItem(id: id, owner: id % 1000 + 1))
        }
      }
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
}
