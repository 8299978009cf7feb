import ModelStore

extension StoreOpeningWorkload {
  var modelStoreContenders: [Contender] {
    [
      Contender(library: .modelStore, name: "ModelStore") { directory in
        let path = try file(in: directory)
        let models = NumberedItems.types(modelCount)
        let first = try open(path, models)
        let policy = try first.policy()
        first.close()
        return Session(policy: policy) {
          var openings: [Double] = []
          let timing = try Stopwatch.collect(limit: openingCount) { _ in
            let start = Stopwatch.now
            let store = try open(path, models)
            openings.append(Double(Stopwatch.now - start) / 1000)
            let count = try store.count(NumberedItem<Zero>.all)
            let elapsed = Stopwatch.now - start
            store.close()
            guard count == 1 else { throw BenchmarkFailure("The record is missing.") }
            return elapsed
          }
          return Measurement(
            timing,
            figures: [Measurement.Figure(name: "µs of opening alone", value: openings.median)])
        }
      }
    ]
  }

  /// Returns a file of all models and bindings, with one record.
  func file(in directory: TemporaryDirectory) throws -> String {
    try directory.copy(of: "models-\(modelCount)") { path in
      let store = try open(path, NumberedItems.types(modelCount))
      try store.checkpoint()
      store.close()
      let connection = try RawConnection(path: path, synchronous: .full)
      try connection.execute("INSERT INTO Item0 (id, value, title) VALUES (1, 1, 'one')")
      try connection.checkpoint()
    }
  }

  private func open(_ path: String, _ models: [any NumberedModel.Type]) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.cacheSize = 64 * 1024 * 1024
    configuration.checkpointFrameCount = Int.max
    return try Store(
      at: path, models: models, bindings: models.prefix(bindingCount).map { $0.binding },
      configuration: configuration)
  }
}
