import GRDB

extension StoreOpeningWorkload {
  /// A pool and a migrator whose one migration is already applied. GRDB knows neither models nor
  /// bindings of a file, so it compares nothing.
  var grdbContenders: [Contender] {
    [
      Contender(library: .grdb, name: "GRDB, pool and migrator") { directory in
        let path = try file(in: directory)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("first") { _ in }
        let first = try DatabasePool.open(path, synchronous: .full)
        try migrator.migrate(first)
        let policy = try first.policy()
        try first.close()
        return Session(policy: policy) { [migrator] in
          Measurement(
            try Stopwatch.collect(limit: openingCount) { _ in
              let start = Stopwatch.now
              let pool = try DatabasePool.open(path, synchronous: .full)
              try migrator.migrate(pool)
              let count = try pool.read { try Int.fetchOne($0, sql: Self.select) }
              let elapsed = Stopwatch.now - start
              try pool.close()
              guard count == 1 else { throw BenchmarkFailure("The record is missing.") }
              return elapsed
            })
        }
      }
    ]
  }
}
