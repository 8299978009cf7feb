#if Service
  public import Logging
  public import ModelStore

  /// Writes what a store does to a logger of swift-log, with structured metadata.
  ///
  /// ```swift
  /// try store.addMonitor(StoreLogger(Logger(label: "notes.store")))
  /// ```
  ///
  /// | Level | What is logged |
  /// |---|---|
  /// | critical | a COMMIT with an unknown outcome |
  /// | error | a failure that no caller receives, a dead letter of a worker |
  /// | warning | a slow statement, an observation that falls behind |
  /// | notice | a resync of observers |
  /// | debug | refused and rolled back writes, checkpoints, commits of other programs |
  /// | trace | committed writes, reads, progress of consumers |
  ///
  /// Values of records are never logged. Messages are constant, so that you can group by them.
  public struct StoreLogger: StoreMonitor {
    /// The duration from which a statement is logged with its plan.
    public let slowStatementDuration: Duration?
    private let logger: Logger

    /// Creates a monitor.
    ///
    /// - Parameter slowStatementDuration: With nil, no statement is timed.
    public init(_ logger: Logger, slowStatementDuration: Duration? = .milliseconds(100)) {
      self.logger = logger
      self.slowStatementDuration = slowStatementDuration
    }

    public func receive(_ event: StoreEvent) {
      switch event {
      case .writeQueued, .writeBegan, .readBegan: break
      case .writeEnded(let report): log(report)
      case .readEnded(let report):
        logger.trace("read ended", metadata: report.metadata)
      case .checkpoint(let report):
        logger.debug(
          "checkpoint",
          metadata: ["pages": "\(report.pageCount)", "duration": .milliseconds(report.duration)])
      case .foreignCommit(let report):
        logger.debug(
          "commit of another program",
          metadata: [
            "changes": "\(report.changeCount)", "exact": "\(report.isExact)",
            "duration": .milliseconds(report.duration),
          ])
      case .resync: logger.notice("observers were reset")
      case .backlog(let count):
        logger.warning("an observation falls behind", metadata: ["events": "\(count)"])
      case .consumer(let report):
        logger.trace(
          "consumer",
          metadata: [
            "consumer": "\(report.name)", "lag": "\(report.lag)",
            "position": "\(report.acknowledged.rawValue)",
          ])
      case .deadLetter(let consumer, let model, let position, let attemptCount):
        logger.error(
          "dead letter",
          metadata: [
            "consumer": "\(consumer)", "model": "\(model)", "position": "\(position.rawValue)",
            "attempts": "\(attemptCount)",
          ])
      case .slowStatement(let report):
        logger.warning(
          "slow statement",
          metadata: [
            "sql": "\(report.sql)", "duration": .milliseconds(report.duration),
            "plan": .array(report.plan.map { .string($0) }),
          ])
      case .failure(let error): logger.error("failure", metadata: error.metadata)
      @unknown default: break
      }
    }

    private func log(_ report: WriteReport) {
      switch report.outcome {
      case .committed: logger.trace("write committed", metadata: report.metadata)
      case .refused(let error):
        logger.debug("write refused", metadata: report.metadata.merging(error.metadata) { $1 })
      case .rolledBack(let error):
        logger.debug(
          "write rolled back", metadata: report.metadata.merging(Self.reason(error)) { $1 })
      case .unknown(let error):
        logger.critical(
          "outcome of a write unknown", metadata: report.metadata.merging(error.metadata) { $1 })
      }
    }

    /// An error of the program may contain values of records.
    private static func reason(_ error: any Error) -> Logger.Metadata {
      (error as? StoreError)?.metadata ?? ["error": "\(type(of: error))"]
    }
  }

  extension Logger.MetadataValue {
    /// A duration in milliseconds, with a precision of a microsecond.
    fileprivate static func milliseconds(_ duration: Duration) -> Logger.MetadataValue {
      let microseconds = (duration / .microseconds(1)).rounded()
      return "\(microseconds / 1000) ms"
    }
  }

  extension WriteReport {
    fileprivate var metadata: Logger.Metadata {
      var metadata: Logger.Metadata = [
        "write": "\(number)", "rows": "\(changedRowCount)",
        "total": .milliseconds(times.total),
      ]
      for (step, duration) in times.steps { metadata[step] = .milliseconds(duration) }
      if sharingCount > 1 { metadata["sharing"] = "\(sharingCount)" }
      if let transaction { metadata["transaction"] = "\(transaction)" }
      return metadata
    }
  }

  extension ReadReport {
    fileprivate var metadata: Logger.Metadata {
      var metadata: Logger.Metadata = [
        "queue": .milliseconds(queue), "duration": .milliseconds(duration),
      ]
      if let error {
        metadata["error"] = "\((error as? StoreError)?.message ?? "\(type(of: error))")"
      }
      return metadata
    }
  }

  extension StoreError {
    fileprivate var metadata: Logger.Metadata {
      var metadata: Logger.Metadata = ["code": "\(code.rawValue)", "error": "\(message)"]
      if let model { metadata["model"] = "\(model)" }
      if let field { metadata["field"] = "\(field)" }
      if !violations.isEmpty {
        metadata["rules"] = .array(violations.map { .string($0.rule) })
      }
      return metadata
    }
  }
#endif
