import ModelStore

extension StoreOpeningWorkload {
  var modelStoreContenders: [Contender] {
    [
      Contender(library: .modelStore, name: "ModelStore") { directory in
        let path = try file(in: directory)
        let named = named
        let first = try open(path, named)
        let policy = try first.policy()
        first.close()
        return Session(policy: policy) {
          var openings: [Double] = []
          let timing = try Stopwatch.collect(limit: openingCount) { _ in
            let start = Stopwatch.now
            let store = try open(path, named)
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
      let store = try open(path, named)
      try store.checkpoint()
      store.close()
      let connection = try RawConnection(path: path, synchronous: .full)
      try connection.execute("INSERT INTO Item0 (id, value, title) VALUES (1, 1, 'one')")
      try connection.checkpoint()
    }
  }

  /// What a program names in its call. There, the compiler makes the array of models.
  private struct Named {
    let models: [any Model.Type]
    let boundModels: ArraySlice<any NumberedModel.Type>
  }

  private var named: Named {
    let models = NumberedItems.types(modelCount)
    return Named(models: models, boundModels: models.prefix(bindingCount))
  }

  private func open(_ path: String, _ named: Named) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.cacheSize = 64 * 1024 * 1024
    configuration.checkpointFrameCount = Int.max
    return try Store(
      at: path, models: named.models, bindings: named.boundModels.map { $0.binding },
      configuration: configuration)
  }
}
