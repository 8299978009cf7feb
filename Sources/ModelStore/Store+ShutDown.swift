// Ending a store in order.
extension Store {
  /// Ends the store without losing anything that was acknowledged: refuses new writes, lets running
  /// and waiting ones finish, delivers their events, copies the write-ahead log, and closes.
  ///
  /// ```swift
  /// try await store.shutDown(within: .seconds(10))
  /// ```
  ///
  /// From the call on, `write` throws ``StoreError/Code/shuttingDown``. Reads continue until the
  /// store is closed. Writes of callbacks are refused, too.
  ///
  /// - Parameter deadline: The longest time. After it, the store closes: the running write may
  ///   finish, and writes that still wait throw `misuse`.
  /// - Throws: ``StoreError`` with code `shuttingDown` if the deadline passed, or the error of
  ///   copying the log, such as `ioFailure`. The store is closed in any case, and keeps what was
  ///   committed.
  public func shutDown(within deadline: Duration) async throws {
    lease.refuseWrites()
    let engine = try open
    let finishing = Task { [self] in
      // A turn of the line may leave writes to a further turn, behind this one; it takes one at
      // least.
      for _ in 0...engine.line.waitingCount { try await engine.turns.takeOnQueue { _ in } }
      await waitForDelivery()
      do {
        try await checkpoint()
      } catch let error as StoreError where error.code == .busy || error.code == .readOnly {
        // Another process writes, or nothing was written. The log stays for the next opening.
      }
      await close()
    }
    // Does nothing if the store is closed by then.
    defer { lease.end(.whenIdle) }
    guard try await Deadline(deadline).race(finishing) else {
      throw StoreError(
        .shuttingDown,
        "The store did not finish within \(deadline). It is closed; what was committed is kept.")
    }
  }
}
