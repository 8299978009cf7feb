import Foundation
import Synchronization
import Testing

@testable import ModelStore

/// Each backup that is made while others write is a state that the store had.
@Suite(.tags(.law)) struct BackupLawTests {
  /// How many backups: `MODELSTORE_BACKUPS`, or enough for every day.
  private static var backupCount: Int {
    ProcessInfo.processInfo.environment["MODELSTORE_BACKUPS"].flatMap { Int($0) } ?? 20
  }

  @Test func eachBackupUnderLoadIsAStateThatTheStoreHad() throws {
    let world = try CopyWorld(
      recordCount: 3000, configuration: StoreConfiguration(checkpointFrameCount: 50))
    let isDone = Atomic(false)
    let ended = DispatchSemaphore(value: 0)
    let failures = Recorder<String>()
    DispatchQueue(label: "test.writer").async {
      do {
        var number: Int64 = 0
        while !isDone.load(ordering: .relaxed) {
          number += 1
          try world.writeSome(number)
        }
      } catch {
        failures.add("\(error)")
      }
      ended.signal()
    }
    var positions: Set<JournalPosition> = []
    for number in 0..<Self.backupCount {
      let target = world.directory.file("backup-\(number)")
      let backup = try world.store.backup(to: target)
      positions.insert(backup.position)
      // The writer notes a state after its commit.
      while !world.knows(backup.position), failures.events.isEmpty { sched_yield() }
      #expect(try world.findings(of: target) == [], "backup \(number)")
      try FileManager.default.removeItem(atPath: target)
    }
    isDone.store(true, ordering: .relaxed)
    ended.wait()
    #expect(failures.events == [])
    #expect(positions.count > 1)
  }

  /// The control: what copies the files of an open store is found by the same check.
  @Test func aFileCopyUnderLoadIsFound() throws {
    let world = try CopyWorld(recordCount: 3000)
    try world.store.checkpoint()
    let target = world.directory.file("copy")
    // Another process, because closing a descriptor of the file would drop SQLite's locks here.
    func copy(skip: Int, count: Int) {
      run(
        "/bin/dd", "if=\(world.path)", "of=\(target)", "bs=4096", "conv=notrunc", "status=none",
        "skip=\(skip)", "seek=\(skip)", "count=\(count)")
    }
    copy(skip: 0, count: 20)
    for number in 1...40 { try world.writeSome(Int64(number)) }
    try world.store.checkpoint()
    copy(skip: 20, count: 100_000)
    #expect(try world.findings(of: target) != [])
  }
}
