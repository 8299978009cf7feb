/// Receives what a store does, for logs, metrics and traces.
///
/// Add a monitor with ``Store/addMonitor(_:)``. Without one, a store measures nothing. The product
/// `ModelStoreService` has monitors for swift-log, swift-metrics and swift-distributed-tracing.
///
/// ```swift
/// struct SlowWrites: StoreMonitor {
///   func receive(_ event: StoreEvent) {
///     if case .writeEnded(let report) = event, report.times.total > .milliseconds(100) {
///       print(report)
///     }
///   }
/// }
/// ```
public protocol StoreMonitor: Sendable {
  /// Receives one event.
  ///
  /// The store calls it on the thread that does the work, which waits for it. So return quickly,
  /// and do not use the store. The thread and task of ``StoreEvent/writeQueued(_:)`` are those of
  /// the caller of the write.
  func receive(_ event: StoreEvent)

  /// The duration from which a statement is reported as ``StoreEvent/slowStatement(_:)``. With nil,
  /// the default, no statement is timed. SQLite measures in milliseconds.
  ///
  /// The store reads it when you add the monitor.
  var slowStatementDuration: Duration? { get }

  /// Returns a tag for the commit record of a write, if the write has set none. Other processes
  /// read it as ``JournalTransaction/tag``. With nil, the default, the commit record has no tag.
  ///
  /// - Parameter write: The number of the write in ``StoreEvent/writeQueued(_:)``.
  func tag(ofWrite write: UInt64) -> String?
}

extension StoreMonitor {
  public var slowStatementDuration: Duration? { nil }

  public func tag(ofWrite write: UInt64) -> String? { nil }
}
