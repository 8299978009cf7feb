import CFaultVFS
import CSQLite
import Testing

@testable import ModelStore

/// What one operation costs in units that no machine changes: its mean over several operations.
struct Work: CustomStringConvertible {
  /// Statements that began on any connection, without scripts.
  var statements = 0.0
  /// Statements that were compiled.
  var prepared = 0.0
  /// Instructions of SQLite's virtual machine.
  var steps = 0.0
  /// Rows that a statement visited without an index, and sorts, of all statements.
  var scans = 0.0
  /// Rows written, by triggers too.
  var rows = 0.0
  /// Allocations of the thread that called; nil where they cannot be counted.
  var allocations: Double?

  var description: String {
    let counted = allocations.map { ", \($0) allocations" } ?? ""
    return "\(statements) statements, \(prepared) prepared, \(steps) steps, \(scans) scans, "
      + "\(rows) rows\(counted)"
  }

  /// Returns the counts that are larger than those of `limit`, as text.
  func excess(over limit: Work) -> [String] {
    func compare(_ name: String, _ count: Double, _ limit: Double) -> String? {
      count > limit ? "\(count) \(name), not at most \(limit)" : nil
    }
    return [
      compare("statements", statements, limit.statements),
      compare("prepared", prepared, limit.prepared),
      compare("steps", steps, limit.steps),
      compare("scans", scans, limit.scans),
      compare("rows", rows, limit.rows),
      compare("allocations", allocations ?? 0, limit.allocations ?? .infinity),
    ].compactMap { $0 }
  }
}

/// A store in memory, whose work is counted. In memory no other process writes, so the store runs
/// no statements of its own between operations.
struct CountedStore {
  let store: Store

  init(
    models: [any Model.Type], journal: JournalDetail? = nil, validators: [Validator] = []
  ) throws {
    let configuration = StoreConfiguration(maxReaderCount: 1, changeJournal: journal)
    store = try Store.inMemory(
      models: models, validators: validators, configuration: configuration)
  }

  /// Counts the work of an operation.
  ///
  /// - Parameters:
  ///   - count: How often it runs, after as many times without being counted, which fill caches.
  ///   - share: The operations that each call of `body` stands for, such as the records of a fetch.
  ///   - body: Receives the number of the call, from 0 over both rounds.
  func work(_ count: Int, share: Int = 1, _ body: (Int) throws -> Void) throws -> Work {
    for index in 0..<count { try body(index) }
    store.waitForDelivery()
    let before = try counts()
    let isCounting = allocation_count_begin() != 0
    defer { _ = allocation_count_end() }
    for index in count..<2 * count { try body(index) }
    let allocations = allocation_count_end()
    store.waitForDelivery()
    let after = try counts()
    func mean(_ value: (Counts) -> Int64) -> Double {
      Double(value(after) - value(before)) / Double(count * share)
    }
    return Work(
      statements: mean(\.statements), prepared: mean(\.prepared), steps: mean(\.steps),
      scans: mean(\.scans), rows: mean(\.rows),
      allocations: isCounting ? Double(allocations) / Double(count * share) : nil)
  }

  /// Measures what an operation leaves allocated.
  ///
  /// - Parameters:
  ///   - count: How often it runs, after as many times without being measured.
  ///   - body: Receives the number of the call, from 0 over both rounds.
  /// - Returns: The mean of an operation; nil where allocations cannot be counted.
  func kept(
    _ count: Int, _ body: (Int) throws -> Void
  ) rethrows -> (allocations: Double, bytes: Double)? {
    for index in 0..<count { try body(index) }
    let isCounting = allocation_count_begin() != 0
    defer { _ = allocation_count_end() }
    for index in count..<2 * count { try body(index) }
    _ = allocation_count_end()
    guard isCounting else { return nil }
    return (
      Double(allocation_count_kept()) / Double(count),
      Double(allocation_count_kept_bytes()) / Double(count)
    )
  }

  /// The counts of a connection, or of all, since they were opened.
  private struct Counts {
    var statements: Int64 = 0
    var prepared: Int64 = 0
    var steps: Int64 = 0
    var scans: Int64 = 0
    var rows: Int64 = 0

    mutating func add(_ connection: Connection) {
      statements += Int64(connection.statementCount)
      prepared += Int64(connection.preparedCount)
      rows += connection.totalChangeCount
      // A statement that was finalized is not counted; the caches keep those that repeat.
      var statement = sqlite3_next_stmt(connection.handle, nil)
      while let current = statement {
        func status(_ counter: Int32) -> Int64 { Int64(sqlite3_stmt_status(current, counter, 0)) }
        steps += status(SQLITE_STMTSTATUS_VM_STEP)
        scans +=
          status(SQLITE_STMTSTATUS_FULLSCAN_STEP) + status(SQLITE_STMTSTATUS_SORT)
          + status(SQLITE_STMTSTATUS_AUTOINDEX)
        statement = sqlite3_next_stmt(connection.handle, current)
      }
    }
  }

  private func counts() throws -> Counts {
    let connections = store.engine.connections
    var counts = Counts()
    try connections.writer.sync { counts.add($0.connection) }
    for pool in [
      connections.readers, connections.snapshots, connections.hydration, connections.delivery,
    ] {
      try pool.sync { counts.add($0) }
    }
    return counts
  }
}
