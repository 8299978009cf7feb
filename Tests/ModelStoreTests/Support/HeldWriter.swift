import CSQLite
import Synchronization
import Testing

@testable import ModelStore

/// Holds the writer of a store, so that asynchronous writes wait for it in the order in which they
/// are added. After `release()` they share a COMMIT, if they may.
final class HeldWriter: Sendable {
  private let store: Store
  private let gate = DispatchGate()

  init(_ store: Store) async {
    self.store = store
    // The bodies of tests may wait for each other.
    store.engine.line.setDurationMax(.seconds(600))
    await withCheckedContinuation { held in
      Task { [gate] in
        try await store.engine.connections.writer.async { _ in
          held.resume()
          gate.wait()
        }
      }
    }
  }

  /// Adds a write behind those that wait.
  func add<Result: Sendable>(
    _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Result
  ) async -> Task<Result, any Error> {
    let line = store.engine.line
    let count = line.waitingCount
    let task = Task.immediate { [store] in try await store.write(body) }
    // It waits by now, unless the runtime began it on another thread.
    while line.waitingCount == count { await Task.yield() }
    return task
  }

  func release() { gate.open() }

  /// Runs `bodies` as writes that wait at the same time.
  ///
  /// - Returns: For each, nil or its error.
  static func run(
    on store: Store, _ bodies: [@Sendable (borrowing WriteTransaction) throws -> Void]
  ) async -> [(any Error)?] {
    let held = await HeldWriter(store)
    var tasks: [Task<Void, any Error>] = []
    for body in bodies { tasks.append(await held.add(body)) }
    held.release()
    var errors: [(any Error)?] = []
    for task in tasks {
      switch await task.result {
      case .success: errors.append(nil)
      case .failure(let error): errors.append(error)
      }
    }
    return errors
  }
}

/// The statements that a store's writer runs, as SQLite reports them. Only for stores that observe
/// nothing: capturing takes the same slot.
final class StatementLog: Sendable {
  private let recorder = Recorder<String>()
  private let store: Store

  init(_ store: Store) throws {
    self.store = store
    let context = Unmanaged.passUnretained(self).toOpaque()
    try store.engine.connections.writer.sync { writer in
      _ = sqlite3_trace_v2(
        writer.connection.handle, UInt32(SQLITE_TRACE_STMT),
        { _, context, statement, _ in
          guard let context, let text = sqlite3_sql(statement.map { OpaquePointer($0) }) else {
            return 0
          }
          Unmanaged<StatementLog>.fromOpaque(context).takeUnretainedValue().recorder
            .add(String(cString: text))
          return 0
        }, context)
    }
  }

  /// The statements since the last call.
  func taken() -> [String] { recorder.taken() }

  /// The number of statements since the last call that are `sql`.
  func takenCount(of sql: String) -> Int { taken().count { $0 == sql } }

  /// Stops logging. Call it before the log is released.
  func stop() throws {
    try store.engine.connections.writer.sync { writer in
      _ = sqlite3_trace_v2(writer.connection.handle, 0, nil, nil)
    }
  }
}
