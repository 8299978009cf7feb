internal import Synchronization

/// Reports failures of what the stores on one file share: to the store that was opened first of
/// those that are open.
final class SharedReport: Sendable {
  typealias Report = @Sendable (StoreError) -> Void

  // Never held while a report runs.
  private let reports = Mutex<[(number: UInt64, report: Report)]>([])

  func add(_ report: @escaping Report, as number: UInt64) {
    reports.withLock { $0.append((number, report)) }
  }

  /// Removes a store's report. The last one stays, for failures while the last store closes.
  func remove(_ number: UInt64) {
    let removed = reports.withLock { reports -> Report? in
      guard reports.count > 1, let place = reports.firstIndex(where: { $0.number == number }) else {
        return nil
      }
      return reports.remove(at: place).report
    }
    // Released here, outside the lock: its end may run the caller's code.
    withExtendedLifetime(removed) {}
  }

  func send(_ error: StoreError) {
    let first = reports.withLock { $0.first?.report }
    first?(error)
  }

  /// Reports a failure that does not undo the commit before it.
  ///
  /// - Parameters:
  ///   - work: What failed, such as "trimming the change journal".
  ///   - models: Name the records that the error is about.
  func send(_ error: any Error, afterCommit work: String, _ models: ModelRegistry) {
    let error = StoreError(reporting: models.storeError(error, about: nil))
    send(error.following("The commit stands; \(work) failed after it"))
  }
}
