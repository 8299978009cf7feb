import CoreMetrics
import Synchronization

/// Metrics in memory, as a program keeps them until they are collected: a sum behind an atomic.
struct SummingMetrics: MetricsFactory {
  private final class Sum: CounterHandler, RecorderHandler, TimerHandler, Sendable {
    private let value = Atomic<Int64>(0)

    private func add(_ amount: Int64) { _ = value.wrappingAdd(amount, ordering: .relaxed) }

    func increment(by amount: Int64) { add(amount) }
    func reset() { value.store(0, ordering: .relaxed) }
    func record(_ amount: Int64) { add(amount) }
    func record(_ amount: Double) { add(Int64(amount)) }
    func recordNanoseconds(_ duration: Int64) { add(duration) }
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { Sum() }

  func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler { Sum() }

  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { Sum() }

  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}
}
