// Receiving what a store does.
extension Store {
  /// Adds a monitor, which receives what this store and the other stores on its file in this
  /// process do, until this store is closed or released.
  ///
  /// Add it right after opening. Opening itself is not reported: it throws what fails.
  ///
  /// - Throws: ``StoreError`` with code `misuse` if the store is closed.
  public func addMonitor(_ monitor: any StoreMonitor) throws {
    try open.monitors.add(monitor, of: lease.scope.number)
  }
}
