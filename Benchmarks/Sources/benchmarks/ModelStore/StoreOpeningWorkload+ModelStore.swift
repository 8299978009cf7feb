import ModelStore

extension StoreOpeningWorkload {
  var modelStoreContenders: [Contender] {
    [
      Contender(library: .modelStore, name: "ModelStore") { directory in
        let path = try file(in: directory)
        let first = try open(path)
        let policy = try first.policy()
        first.close()
        return Session(policy: policy) {
          Measurement(
            try Stopwatch.collect(limit: openingCount) { _ in
              let start = Stopwatch.now
              let store = try open(path)
              let count = try store.count(NumberedItem<Zero>.all)
              let elapsed = Stopwatch.now - start
              store.close()
              guard count == 1 else { throw BenchmarkFailure("The record is missing.") }
              return elapsed
            })
        }
      }
    ]
  }

  /// Returns a file of all models and bindings, with one record.
  func file(in directory: TemporaryDirectory) throws -> String {
    try directory.copy(of: "models-\(modelCount)") { path in
      let store = try open(path)
      try store.checkpoint()
      store.close()
      let connection = try RawConnection(path: path, synchronous: .full)
      try connection.execute("INSERT INTO Item0 (id, value, title) VALUES (1, 1, 'one')")
      try connection.checkpoint()
    }
  }

  private func open(_ path: String) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.cacheSize = 64 * 1024 * 1024
    configuration.checkpointFrameCount = Int.max
    let models = NumberedItems.types(modelCount)
    return try Store(
      at: path, models: models, bindings: models.prefix(bindingCount).map { $0.binding },
      configuration: configuration)
  }
}
