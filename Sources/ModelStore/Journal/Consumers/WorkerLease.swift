/// The right of one process to work for a consumer. Other processes with a worker of the same name
/// wait until it ends, or until it was not renewed in time.
struct WorkerLease {
  let connection: Connection
  let consumer: String
  /// Unique among the workers of all processes.
  let holder: String

  /// Takes or renews the lease.
  ///
  /// - Parameter until: When it ends if it is not renewed, in microseconds since 1970-01-01
  ///   00:00:00   UTC.
  ///
  /// A lease that ends later than a new one would was given before the clock was set back.
  /// - Returns: Whether this holder has it now.
  func take(until: Int64, now: Int64) throws -> Bool {
    try connection.run(
      """
      INSERT INTO _ms_workers (consumer, holder, until) VALUES (\(consumer), \(holder), \(until))
      ON CONFLICT (consumer) DO UPDATE SET holder = excluded.holder, until = excluded.until
      WHERE holder = excluded.holder OR until < \(now) OR until > \(until)
      """)
    return connection.changeCount > 0
  }

  /// Ends the lease, if this holder has it.
  func end() throws {
    try connection.run(
      "DELETE FROM _ms_workers WHERE consumer = \(consumer) AND holder = \(holder)")
  }
}
