import CSQLite

@testable import ModelStore

/// Counts what SQLite does on a connection, in steps of its virtual machine: the same on every
/// machine, and in proportion to the rows that a statement visits.
final class StepCounter {
  private static let stepsPerCall: Int32 = 16
  private var callCount = 0

  /// How many steps `body` takes on `connection`.
  static func steps(on connection: Connection, _ body: () throws -> Void) rethrows -> Int {
    let counter = StepCounter()
    let context = Unmanaged.passUnretained(counter).toOpaque()
    sqlite3_progress_handler(
      connection.handle, stepsPerCall,
      { context in
        if let context {
          Unmanaged<StepCounter>.fromOpaque(context).takeUnretainedValue().callCount += 1
        }
        return 0
      }, context)
    defer { sqlite3_progress_handler(connection.handle, 0, nil, nil) }
    try withExtendedLifetime(counter) { try body() }
    return counter.callCount * Int(stepsPerCall)
  }

  /// How many steps `body` takes on the reading connection of `store`, which is one where nothing
  /// else reads.
  static func steps(reading store: Store, _ body: () throws -> Void) throws -> Int {
    var connection: Connection?
    try store.engine.connections.readers.sync { connection = $0 }
    guard let connection else { return 0 }
    return try steps(on: connection, body)
  }
}
