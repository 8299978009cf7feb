import GRDB

extension DurabilityPolicy {
  /// A GRDB configuration whose connections use this policy.
  fileprivate var configuration: Configuration {
    var configuration = Configuration()
    configuration.journalMode = .wal
    configuration.prepareDatabase { [statements] database in
      // Readers refuse statements that write; GRDB opens them in WAL mode already.
      for statement in statements where !database.configuration.readonly {
        try database.execute(sql: statement)
      }
      if database.configuration.readonly {
        try database.execute(sql: "PRAGMA cache_size = -65536")
      }
    }
    return configuration
  }
}

extension DatabaseQueue {
  static func open(
    _ path: String, synchronous: DurabilityPolicy.Synchronous
  ) throws -> DatabaseQueue {
    let policy = DurabilityPolicy(synchronous: synchronous)
    let queue = try DatabaseQueue(path: path, configuration: policy.configuration)
    try queue.settle(policy)
    return queue
  }
}

extension DatabasePool {
  static func open(
    _ path: String, synchronous: DurabilityPolicy.Synchronous, readers: Int? = nil
  ) throws -> DatabasePool {
    let policy = DurabilityPolicy(synchronous: synchronous)
    var configuration = policy.configuration
    if let readers { configuration.maximumReaderCount = readers }
    let pool = try DatabasePool(path: path, configuration: configuration)
    try pool.settle(policy)
    return pool
  }
}

extension DatabaseWriter {
  /// Sets `synchronous` again, because GRDB lowers it to NORMAL when it enters WAL mode, after the
  /// configuration.
  fileprivate func settle(_ policy: DurabilityPolicy) throws {
    try writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = \(policy.synchronous.rawValue)")
    }
  }

  /// Returns the settings of ``DurabilityPolicy`` as read back from the writing connection.
  func policy() throws -> [String: String] {
    try writeWithoutTransaction { database in
      var values: [String: String] = [:]
      for (name, _) in DurabilityPolicy(synchronous: .full).pragmas {
        values[name] = try String.fetchOne(database, sql: "PRAGMA \(name)")
      }
      return values
    }
  }

  /// Empties the WAL, so that no run pays for the pages of the previous run.
  func emptyLog() throws {
    try writeWithoutTransaction { database in
      _ = try database.checkpoint(.truncate)
    }
  }
}
