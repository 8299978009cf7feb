extension StoreOpeningWorkload {
  /// The lower limit: a connection, its settings, and a read, which reads the whole schema.
  var sqliteContenders: [Contender] {
    [
      Contender(library: .sqlite, name: "SQLite C API") { directory in
        let path = try file(in: directory)
        return Session(policy: try RawConnection(path: path, synchronous: .full).policy()) {
          Measurement(
            try Stopwatch.collect(limit: openingCount) { _ in
              let start = Stopwatch.now
              let connection = try RawConnection(path: path, synchronous: .full)
              let count = try connection.integer(Self.select)
              let elapsed = Stopwatch.now - start
              guard count == 1 else { throw BenchmarkFailure("The record is missing.") }
              return elapsed
            })
        }
      }
    ]
  }
}
