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
    // A backup takes several steps, between which the writer commits.
    let world = try CopyWorld(configuration: StoreConfiguration(checkpointFrameCount: 50))
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

  /// How many restorations under load.
  private static var restorationCount: Int { max(5, backupCount / 10) }

  @Test func eachRestorationUnderLoadIsOneTransaction() throws {
    let configuration = StoreConfiguration(checkpointFrameCount: 50)
    let world = try CopyWorld(recordCount: 3000, configuration: configuration)
    try world.writeSome(1)
    let target = world.directory.file("backup.store")
    try world.store.backup(to: target)
    let load = Load(world.store, from: 2)
    for round in 0..<Self.restorationCount {
      load.waitForWrites(3)
      let before = load.acknowledged
      try Store.restore(world.path, from: target, configuration: configuration)
      load.waitForWrites(3)
      let after = load.acknowledged
      let ids = try world.store.fetch(Album.all.order { $0.id }).map(\.id)
      // The record of the backup, and without a hole what was written after the restoration.
      let later = Array(ids.dropFirst())
      #expect(ids.first == 1, "round \(round)")
      #expect(later.allSatisfy { $0 > before }, "round \(round): \(later), \(before)")
      #expect(
        later == Array((later.first ?? 0)...max(later.last ?? 0, after)), "round \(round)")
      #expect(try world.store.checkIntegrity() == [], "round \(round)")
      #expect(try world.store.bindingFindings() == [], "round \(round)")
    }
    load.end()
    #expect(load.failures.events == [])
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

/// A thread that writes, and one that reads, until they are stopped.
private final class Load: Sendable {
  let failures = Recorder<String>()
  private let newest: Atomic<Int64>
  private let isDone = Atomic(false)
  private let ended = DispatchSemaphore(value: 0)

  /// Each write inserts an album, and gives two artists the same name.
  init(_ store: Store, from first: Int64) {
    newest = Atomic(first - 1)
    run {
      let number = self.acknowledged + 1
      try store.write { tx in
        try tx.insert(Album(id: number, title: "title \(number)", artistID: number % 100 + 1))
        try tx.update(Artist(id: 2000, name: "name \(number)"))
        try tx.update(Artist(id: 1, name: "name \(number)"))
      }
      self.newest.store(number, ordering: .sequentiallyConsistent)
    }
    run {
      let names = try store.read { reads in
        [try reads.find(Artist.self, 1)?.name, try reads.find(Artist.self, 2000)?.name]
      }
      // In the backup, both have other names.
      let isWhole = names[0] == names[1] || names[1]?.hasPrefix("2000 ") == true
      if !isWhole { self.failures.add("\(names)") }
    }
  }

  /// The newest album whose commit has returned.
  var acknowledged: Int64 { newest.load(ordering: .sequentiallyConsistent) }

  private func run(_ body: @escaping @Sendable () throws -> Void) {
    DispatchQueue(label: "test.load").async {
      do {
        while !self.isDone.load(ordering: .relaxed) { try body() }
      } catch {
        self.failures.add("\(error)")
      }
      self.ended.signal()
    }
  }

  func waitForWrites(_ count: Int64) {
    let wanted = acknowledged + count
    while acknowledged < wanted, failures.events.isEmpty { sched_yield() }
  }

  func end() {
    isDone.store(true, ordering: .relaxed)
    for _ in 0..<2 { ended.wait() }
  }
}
