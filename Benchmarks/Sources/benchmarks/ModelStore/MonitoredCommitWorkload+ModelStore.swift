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
      contender("log, metrics and tracing") { store in
        try store.addMonitor(Self.log)
        try store.addMonitor(Self.metrics)
        try store.addMonitor(Self.tracer)
      },
    ]
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

  private static var tracer: StoreTracer {
    StoreTracer(store: "tracks", tracer: InMemoryTracer())
  }
}
