internal import Synchronization

/// Reports failures of the parts that the stores on one file share.
///
/// It reports to the store that was opened first among the open ones.
final class SharedReport: Sendable {
  typealias Report = @Sendable (StoreError) -> Void

  // Never held while a report runs.
  private let reports = Mutex<[(number: UInt64, report: Report)]>([])
  let monitors: Monitors

  init(_ monitors: Monitors = Monitors()) {
    self.monitors = monitors
  }

  func add(_ report: @escaping Report, as number: UInt64) {
    reports.withLock { $0.append((number, report)) }
  }

  /// Removes a store's report handler. The last one stays, for failures while the last store
  /// closes.
  func remove(_ number: UInt64) {
    let removed = reports.withLock { reports -> Report? in
      guard reports.count > 1, let place = reports.firstIndex(where: { $0.number == number }) else {
        return nil
      }
      return reports.remove(at: place).report
    }
    // Released outside the lock: its deinitialisation may run the caller's code.
    withExtendedLifetime(removed) {}
  }

  func send(_ error: StoreError) {
    let first = reports.withLock { $0.first?.report }
    first?(error)
    monitors.send(.failure(error))
  }

  /// Reports a failure that does not undo the preceding commit.
  ///
  /// - Parameters:
  ///   - work: The work that failed, for example "trimming the change journal".
  ///   - models: Provide the names of the records that the error is about.
  func send(_ error: any Error, afterCommit work: String, _ models: ModelRegistry) {
    let error = StoreError(reporting: models.storeError(error, about: nil))
    send(error.following("The commit is complete; \(work) failed after it"))
  }
}
