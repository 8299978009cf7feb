import ModelStore
import RawSQLite

extension BindingWorkload {
  /// The C API on files whose triggers ModelStore created.
  var sqliteContenders: [Contender] {
    Self.kinds.map { name, bindings in
      Contender(library: .sqlite, name: name) { directory in
        let path = directory.file("items.sqlite")
        let store = try makeStore(at: path, bindings)
        try store.checkpoint()
        store.close()
        let connection = try RawConnection(path: path, synchronous: .normal)
        var step: Int64 = 0
        return Session(policy: try connection.policy()) {
          step += 1
          let timing = try Stopwatch.whole(operations: count) {
            try connection.update(count, adding: step)
          }
          try connection.checkpoint()
          let wrong = try connection.integer(
            "SELECT count(*) FROM BoundItem WHERE value <> id + \(step)")
          guard wrong == 0 else { throw BenchmarkFailure("\(name): \(wrong) values are wrong") }
          return Measurement(timing)
        }
      }
    }
  }
}

extension RawConnection {
  /// Sets the value of the first `count` items to their keys and `step`, in one transaction.
  fileprivate func update(_ count: Int, adding step: Int64) throws {
    try execute("BEGIN IMMEDIATE")
    let update = try prepare("UPDATE BoundItem SET value = ?1 WHERE id = ?2")
    for id in 1...Int64(count) {
      sqlite3_bind_int64(update.handle, 1, id + step)
      sqlite3_bind_int64(update.handle, 2, id)
      try run(update)
    }
    try execute("COMMIT")
  }
}
