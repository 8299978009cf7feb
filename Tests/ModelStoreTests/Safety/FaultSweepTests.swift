import CFaultVFS
import CSQLite
import Testing

@testable import ModelStore

/// Every call of the file system that a small program makes fails once, in turn. Whatever the store
/// says of a write must be what the file holds after a crash and after a reopening.
@Suite(.tags(.law)) struct FaultSweepTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let operation: fault_vfs_op
    let code: CInt
    let effect: fault_vfs_effect
    let `repeat`: fault_vfs_repeat

    var testDescription: String { "\(operation) \(code) \(effect) \(`repeat`)" }
  }

  static let faults: [Fault] = [
    Fault(operation: .write, code: ExtendedCode.ioWrite, effect: .none, repeat: .once),
    Fault(operation: .write, code: ExtendedCode.ioWrite, effect: .half, repeat: .once),
    Fault(operation: .write, code: ExtendedCode.ioWrite, effect: .full, repeat: .once),
    Fault(operation: .write, code: ExtendedCode.ioWrite, effect: .none, repeat: .sticky),
    Fault(operation: .write, code: SQLITE_FULL, effect: .none, repeat: .once),
    Fault(operation: .write, code: SQLITE_FULL, effect: .half, repeat: .sticky),
    Fault(operation: .sync, code: ExtendedCode.ioSync, effect: .none, repeat: .once),
    Fault(operation: .sync, code: ExtendedCode.ioSync, effect: .full, repeat: .once),
    Fault(operation: .sync, code: ExtendedCode.ioSync, effect: .none, repeat: .sticky),
    Fault(operation: .read, code: ExtendedCode.ioRead, effect: .none, repeat: .once),
    Fault(operation: .read, code: ExtendedCode.ioRead, effect: .none, repeat: .sticky),
    Fault(operation: .open, code: SQLITE_CANTOPEN, effect: .none, repeat: .once),
    Fault(operation: .open, code: SQLITE_CANTOPEN, effect: .none, repeat: .sticky),
    Fault(operation: .truncate, code: ExtendedCode.ioTruncate, effect: .none, repeat: .once),
    Fault(operation: .fileSize, code: ExtendedCode.ioStatus, effect: .none, repeat: .once),
    Fault(operation: .delete, code: ExtendedCode.ioDelete, effect: .none, repeat: .once),
    Fault(operation: .access, code: ExtendedCode.ioAccess, effect: .none, repeat: .once),
    Fault(operation: .lock, code: ExtendedCode.ioLock, effect: .none, repeat: .once),
    Fault(operation: .shmMap, code: ExtendedCode.ioSharedMemoryMap, effect: .none, repeat: .once),
    Fault(operation: .shmLock, code: SQLITE_BUSY, effect: .none, repeat: .once),
  ]

  private enum Outcome: String { case acknowledged, failed, unknown }

  /// Five writes of two records each, with checkpoints between and a reopening in the middle.
  private func workload(_ faulty: FaultyStore) -> [Int64: Outcome] {
    var outcomes: [Int64: Outcome] = [:]
    for ids in [1...3, 4...5] as [ClosedRange<Int64>] {
      guard let store = try? faulty.open(checkpointFrameCount: 3) else { continue }
      for id in ids {
        switch code(of: {
          try store.write { tx in
            try tx.insert(Artist(id: id, name: "first"))
            try tx.insert(Artist(id: id + 100, name: String(repeating: "n", count: 100)))
          }
        }) {
        case nil: outcomes[id] = .acknowledged
        case .outcomeUnknown: outcomes[id] = .unknown
        default: outcomes[id] = .failed
        }
        _ = thrownError { try store.fetch(Artist.all) }
      }
      _ = thrownError { try store.checkpoint() }
      if ids.contains(1) { store.close() }
    }
    return outcomes
  }

  private func problems(
    _ outcomes: [Int64: Outcome], in store: Store
  ) throws -> [String] {
    let ids = Set(try store.fetch(Artist.all).map(\.id))
    var problems = try store.checkIntegrity()
    for (id, outcome) in outcomes.sorted(by: { $0.key < $1.key }) {
      let found = (ids.contains(id), ids.contains(id + 100))
      let isRight =
        switch outcome {
        case .acknowledged: found == (true, true)
        case .failed: found == (false, false)
        case .unknown: found.0 == found.1
        }
      if !isRight { problems.append("write \(id) was \(outcome.rawValue), found \(found)") }
    }
    return problems
  }

  @Test(arguments: faults)
  func noFaultCausesAWrongOutcome(fault: Fault) throws {
    var number: Int64 = 0
    var fired = true
    while fired {
      number += 1
      let faulty = try FaultyStore()
      // The store's own files only, so that a copy's and other tests' calls are not counted.
      let rules = ["", "-wal"].map { suffix in
        fault_vfs_arm(
          fault.operation, faulty.path + suffix, number, fault.code,
          fault.effect, fault.repeat)
      }
      let outcomes = workload(faulty)
      fired = rules.contains { fault_vfs_fired($0) > 0 }
      for rule in rules { fault_vfs_disarm(rule) }
      if fault_vfs_snapshot(faulty.path, faulty.directory.file("killed.store")) == 0 {
        let killed = try Store(at: faulty.directory.file("killed.store"), models: Artist.self)
        #expect(
          try problems(outcomes, in: killed) == [],
          "call \(number) of \(fault.testDescription), killed")
      }
      let again = try faulty.open()
      #expect(
        try problems(outcomes, in: again) == [],
        "call \(number) of \(fault.testDescription), reopened")
      try again.write { tx in try tx.insert(Artist(id: 999, name: "after")) }
      if number > 400 {
        Issue.record("the sweep does not end")
        break
      }
    }
    print("swept \(fault.testDescription): \(number - 1) calls")
  }
}
