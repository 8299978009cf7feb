#if Service
  public import Metrics
  public import ModelStore
  import Synchronization

  /// Counts and times what a store does, with swift-metrics.
  ///
  /// ```swift
  /// try store.addMonitor(StoreMetrics(store: "notes"))
  /// ```
  ///
  /// Each metric has the dimension `store`. Durations are in nanoseconds. Outcomes are committed,
  /// refused, rolled_back or unknown; a `step` is one of `WriteReport.Times.stepNames`.
  ///
  /// | Metric | Kind | What it measures |
  /// |---|---|---|
  /// | `modelstore_writes` | counter | ended writes, by `outcome` |
  /// | `modelstore_write_duration` | timer | writes from the call to the return |
  /// | `modelstore_write_step_duration` | timer | the steps of committed writes, by `step` |
  /// | `modelstore_changed_rows` | counter | rows that committed writes changed |
  /// | `modelstore_commit_sharing` | recorder | writes that shared a COMMIT |
  /// | `modelstore_read_duration` | timer | reads |
  /// | `modelstore_read_queue_duration` | timer | waits for a free reader |
  /// | `modelstore_checkpoint_duration` | timer | checkpoints |
  /// | `modelstore_log_pages` | gauge | pages of the write-ahead log at the latest checkpoint |
  /// | `modelstore_foreign_commits` | counter | commits of other programs, by `exact` |
  /// | `modelstore_resyncs` | counter | resets of observers |
  /// | `modelstore_backlog_events` | gauge | events that an observation has not received |
  /// | `modelstore_consumer_lag` | gauge | positions that a `consumer` has not acknowledged |
  /// | `modelstore_dead_letters` | counter | changes that a worker gave up on, by `consumer` |
  /// | `modelstore_slow_statements` | counter | slow statements |
  /// | `modelstore_failures` | counter | failures that no caller receives, by `code` |
  public final class StoreMetrics: StoreMonitor {
    /// The duration from which a statement counts as slow.
    public let slowStatementDuration: Duration?
    private let writes: WriteMetrics
    private let readDuration: Timer
    private let readQueueDuration: Timer
    private let checkpointDuration: Timer
    private let logPages: Gauge
    private let exactCommits: Counter
    private let inexactCommits: Counter
    private let resyncs: Counter
    private let backlog: Gauge
    private let slowStatements: Counter
    private let lags: MetricFamily<Gauge>
    private let deadLetters: MetricFamily<Counter>
    private let failures: MetricFamily<Counter>

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - store: The value of the dimension `store`.
    ///   - factory: Makes the metrics. By default, the one that the program has bootstrapped.
    ///   - slowStatementDuration: With nil, no statement is timed.
    public init(
      store: String, factory: any MetricsFactory = MetricsSystem.factory,
      slowStatementDuration: Duration? = .milliseconds(100)
    ) {
      self.slowStatementDuration = slowStatementDuration
      let metrics = StoreDimension(store: store, factory: factory)
      writes = WriteMetrics(metrics)
      readDuration = metrics.timer("read_duration")
      readQueueDuration = metrics.timer("read_queue_duration")
      checkpointDuration = metrics.timer("checkpoint_duration")
      logPages = metrics.gauge("log_pages")
      exactCommits = metrics.counter("foreign_commits", ("exact", "true"))
      inexactCommits = metrics.counter("foreign_commits", ("exact", "false"))
      resyncs = metrics.counter("resyncs")
      backlog = metrics.gauge("backlog_events")
      slowStatements = metrics.counter("slow_statements")
      lags = MetricFamily { metrics.gauge("consumer_lag", ("consumer", $0)) }
      deadLetters = MetricFamily { metrics.counter("dead_letters", ("consumer", $0)) }
      failures = MetricFamily { metrics.counter("failures", ("code", $0)) }
    }

    public func receive(_ event: StoreEvent) {
      switch event {
      case .writeQueued, .writeBegan, .readBegan: break
      case .writeEnded(let report): writes.record(report)
      case .readEnded(let report):
        readDuration.record(duration: report.duration)
        readQueueDuration.record(duration: report.queue)
      case .checkpoint(let report):
        checkpointDuration.record(duration: report.duration)
        logPages.record(report.pageCount)
      case .foreignCommit(let report):
        (report.isExact ? exactCommits : inexactCommits).increment()
      case .resync: resyncs.increment()
      case .backlog(let count): backlog.record(count)
      case .consumer(let report): lags[report.name].record(report.lag)
      case .deadLetter(let consumer, _, _, _): deadLetters[consumer].increment()
      case .slowStatement: slowStatements.increment()
      case .failure(let error): failures[error.code.rawValue].increment()
      @unknown default: break
      }
    }
  }

  /// Metrics that differ by the value of one dimension. Each is made once, when it is first used.
  private final class MetricFamily<Metric: Sendable>: Sendable {
    private let metrics = Mutex<[String: Metric]>([:])
    private let make: @Sendable (_ value: String) -> Metric

    init(_ make: @escaping @Sendable (_ value: String) -> Metric) {
      self.make = make
    }

    subscript(value: String) -> Metric {
      metrics.withLock { metrics in
        if let metric = metrics[value] { return metric }
        let metric = make(value)
        metrics[value] = metric
        return metric
      }
    }
  }

  /// The metrics of writes.
  private struct WriteMetrics {
    private let committed: Counter
    private let refused: Counter
    private let rolledBack: Counter
    private let unknown: Counter
    private let duration: Timer
    private let steps: [(step: WriteReport.Times.Step, timer: Timer)]
    private let changedRows: Counter
    private let sharing: Recorder

    init(_ metrics: StoreDimension) {
      func outcome(_ name: String) -> Counter { metrics.counter("writes", ("outcome", name)) }
      committed = outcome("committed")
      refused = outcome("refused")
      rolledBack = outcome("rolled_back")
      unknown = outcome("unknown")
      duration = metrics.timer("write_duration")
      steps = WriteReport.Times.Step.allCases.map { step in
        (step, metrics.timer("write_step_duration", ("step", step.rawValue)))
      }
      changedRows = metrics.counter("changed_rows")
      sharing = metrics.recorder("commit_sharing")
    }

    func record(_ report: WriteReport) {
      duration.recordNanoseconds(report.times.totalNanoseconds)
      switch report.outcome {
      case .committed:
        committed.increment()
        changedRows.increment(by: report.changedRowCount)
        sharing.record(report.sharingCount)
        for (step, timer) in steps { timer.recordNanoseconds(report.times[step]) }
      case .refused: refused.increment()
      case .rolledBack: rolledBack.increment()
      case .unknown: unknown.increment()
      }
    }
  }

  /// Makes metrics with the prefix of the product and the dimension of one store.
  private struct StoreDimension: Sendable {
    let store: String
    let factory: any MetricsFactory

    func counter(_ name: String, _ dimensions: (String, String)...) -> Counter {
      Counter(label: label(name), dimensions: all(dimensions), factory: factory)
    }

    func timer(_ name: String, _ dimensions: (String, String)...) -> Timer {
      Timer(label: label(name), dimensions: all(dimensions), factory: factory)
    }

    func gauge(_ name: String, _ dimensions: (String, String)...) -> Gauge {
      Gauge(label: label(name), dimensions: all(dimensions), aggregate: false, factory: factory)
    }

    func recorder(_ name: String) -> Recorder {
      Recorder(label: label(name), dimensions: all([]), aggregate: true, factory: factory)
    }

    private func label(_ name: String) -> String { "modelstore_\(name)" }

    private func all(_ dimensions: [(String, String)]) -> [(String, String)] {
      [("store", store)] + dimensions
    }
  }
#endif
