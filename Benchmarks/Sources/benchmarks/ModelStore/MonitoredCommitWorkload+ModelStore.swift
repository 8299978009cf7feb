import CoreMetrics
import InMemoryTracing
import Logging
import ModelStore
import ModelStoreService

extension MonitoredCommitWorkload {
  /// The first one, without a monitor, is the yardstick of the others.
  var modelStoreContenders: [Contender] {
    [
      contender("no monitor") { _ in },
      contender("log") { try $0.addMonitor(Self.log) },
      contender("metrics") { try $0.addMonitor(Self.metrics) },
      contender("tracing") { try $0.addMonitor(Self.tracer) },
      contender("tracing without a sample") { try $0.addMonitor(Self.unsampledTracer) },
      contender("log, metrics and tracing") { try Self.addAll(Self.tracer, to: $0) },
      contender("log, metrics and tracing without a sample") {
        try Self.addAll(Self.unsampledTracer, to: $0)
      },
    ]
  }

  private static func addAll(_ tracer: StoreTracer, to store: Store) throws {
    try store.addMonitor(log)
    try store.addMonitor(metrics)
    try store.addMonitor(tracer)
  }

  private func contender(
    _ name: String, monitoring monitor: @escaping (Store) throws -> Void
  ) -> Contender {
    commits.contender("ModelStore, \(name)", journal: .full) { store in
      try monitor(store)
      return nil
    }
  }

  /// At the level of a service in production: a committed write logs nothing.
  private static var log: StoreLogger {
    var logger = Logger(label: "benchmarks") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .info
    return StoreLogger(logger)
  }

  private static var metrics: StoreMetrics {
    StoreMetrics(store: "tracks", factory: SummingMetrics())
  }

  /// Each span is recorded and kept.
  private static var tracer: StoreTracer {
    StoreTracer(store: "tracks", tracer: InMemoryTracer(recordInjections: false))
  }

  /// No span is recorded.
  private static var unsampledTracer: StoreTracer {
    StoreTracer(store: "tracks", tracer: UnsampledTracer())
  }
}
