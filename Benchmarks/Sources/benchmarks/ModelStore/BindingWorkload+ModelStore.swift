import ModelStore

extension BindingWorkload {
  var modelStoreContenders: [Contender] {
    [
      contender("no binding", []),
      contender("derived, the same", [.derive(\StoredItem.i2, from: "i1 > 0")]),
      contender("derived, changed", [.derive(\StoredItem.i2, from: "i1 * 2")]),
      contender(
        "counted, the same",
        [.aggregate(.count(\StoredItem.i1), into: \StoredItem.i4, through: \StoredItem.i3)]),
      contender(
        "summed, changed",
        [.aggregate(.sum(\StoredItem.i1), into: \StoredItem.i4, through: \StoredItem.i3)]),
      contender(
        "the smallest, changed at times",
        [.aggregate(.minimum(\StoredItem.i1), into: \StoredItem.i4, through: \StoredItem.i3)]),
      contender(
        "both ways, changed",
        [.twoWay(\StoredItem.i1, \StoredItem.i7, forward: "i1 + 1", backward: "i7 - 1")]),
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
        at: directory.file("items.sqlite"), models: StoredItem.self, bindings: bindings,
        configuration: configuration)
      try store.write { tx in
        for id in 1...Int64(count) {
          try tx.insert(StoredItem(values: [id, id, 0, id % 1000 + 1, 0, 0, 0, 0, 0, 0]))
        }
      }
      var step: Int64 = 0
      return Session(policy: try store.policy()) {
        step += 1
        let timing = try Stopwatch.whole(operations: count) {
          try store.write { tx in
            for id in 1...Int64(count) { try tx.set(\StoredItem.i1, to: id + step, for: id) }
          }
        }
        try store.checkpoint()
        return Measurement(timing)
      }
    }
  }
}
