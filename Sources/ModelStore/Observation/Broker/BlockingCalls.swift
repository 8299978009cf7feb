internal import Dispatch
internal import Synchronization

/// The threads on which a store makes blocking calls for tasks that wait for them, so that no
/// thread of the cooperative pool blocks.
///
/// There are few threads, because most of these calls wait for the same writer. Each is a serial
/// queue: Dispatch gives it a thread even if many block. Its shared queues, which also run tasks,
/// would run out of threads.
final class BlockingCalls: Sendable {
  private struct Lane {
    let queue: DispatchQueue
    var load = 0
  }

  private let lanes = Mutex<[Lane]>([])
  private let laneCountMax: Int

  /// - Parameter laneCountMax: The most threads at a time.
  init(laneCountMax: Int = 4) {
    self.laneCountMax = laneCountMax
  }

  /// Runs `body` on the thread with the fewest waiting. If the task is cancelled, statements that
  /// `body` runs stop; see ``StoppableCall``.
  ///
  /// - Throws: What `body` throws. `CancellationError` if the task was cancelled before `body`
  ///   began, or if that stopped it.
  func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    let (place, queue) = take()
    defer { give(place) }
    let context = ChangeBroker.DeliveryContext()
    let call = StoppableCall()
    let waiting = Mutex<(@Sendable () throws -> Result)?>(body)
    let work = { @Sendable in try context.run { try Self.runOnce(waiting, as: call) } }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        queue.async { continuation.resume(with: Swift.Result(catching: work)) }
      }
    } onCancel: {
      call.cancel()
    }
  }

  /// Runs `body`, which cannot be cancelled, on a thread of its own.
  static func runToEnd(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "modelstore.call", qos: .userInitiated).async {
        body()
        continuation.resume()
      }
    }
  }

  private static func runOnce<Result>(
    _ waiting: borrowing Mutex<(@Sendable () throws -> Result)?>, as call: StoppableCall
  ) throws -> Result {
    // Released before the caller goes on: what it captured may be the last to hold the store.
    guard let body = waiting.withLock({ $0.take() }) else {
      preconditionFailure("A call is made once.")
    }
    guard !call.isCancelled else { throw CancellationError() }
    do {
      return try call.run(body)
    } catch let error as StoreError
      where call.isCancelled && (error.code == .cancelled || error.code == .busy)
    {
      throw CancellationError()
    }
  }

  private func take() -> (place: Int, queue: DispatchQueue) {
    lanes.withLock { lanes in
      var place = lanes.indices.min { lanes[$0].load < lanes[$1].load } ?? 0
      if lanes.count < laneCountMax, lanes.allSatisfy({ $0.load > 0 }) {
        place = lanes.count
        lanes.append(
          Lane(queue: DispatchQueue(label: "modelstore.calls", qos: .userInitiated)))
      }
      lanes[place].load += 1
      return (place, lanes[place].queue)
    }
  }

  private func give(_ place: Int) {
    lanes.withLock { $0[place].load -= 1 }
  }
}
