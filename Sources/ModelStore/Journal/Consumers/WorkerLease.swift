/// The right of one process to work for a consumer. Other processes with a worker of the same name
/// wait until it ends, or until it was not renewed in time.
struct WorkerLease {
  let connection: Connection
  let consumer: String
  /// Unique among the workers of all processes.
  let holder: String

  /// Takes or renews the lease. Times are in microseconds since 1970-01-01 00:00:00 UTC.
  ///
  /// If a lease was taken in the future by more than its duration, the clock was set back since.
  /// Without that rule, another process might wait for years. Each lease is compared with its own
  /// duration, because processes may have different settings.
  ///
  /// - Parameter until: When it ends if it is not renewed.
  /// - Returns: Whether this holder has it now.
  func take(until: Int64, now: Int64) throws -> Bool {
    try connection.run(
      """
      INSERT INTO _ms_workers (consumer, holder, since, until)
      VALUES (\(consumer), \(holder), \(now), \(until))
      ON CONFLICT (consumer) DO UPDATE
      SET holder = excluded.holder, since = excluded.since, until = excluded.until
      WHERE holder = excluded.holder OR until < \(now) OR since - (until - since) > \(now)
      """)
    return connection.changeCount > 0
  }

  /// Whether this holder has the lease. After its end, it still has it until another process takes
  /// it.
  var isHeld: Bool {
    get throws {
      try connection.firstRow(
        "SELECT 1 FROM _ms_workers WHERE consumer = \(consumer) AND holder = \(holder)"
      ) { _ in true } ?? false
    }
  }

  /// Ends the lease, if this holder has it.
  func end() throws {
    try connection.run(
      "DELETE FROM _ms_workers WHERE consumer = \(consumer) AND holder = \(holder)")
  }
}
