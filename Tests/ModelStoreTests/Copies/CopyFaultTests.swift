import Foundation
import Glibc
import Testing

@testable import ModelStore

/// Copies that a kill or a full disk interrupts leave the old file or the new one.
@Suite(.tags(.fault), .ownThreads) struct CopyFaultTests {
  private static func open(_ path: String) throws -> Store {
    try Store(at: path, models: Artist.self, Album.self)
  }

  /// Makes a backup, and ends this process like a power cut after some steps.
  private static func backUp(_ path: String, to target: String, dyingAfter count: Int) throws {
    let store = try open(path)
    var left = count
    try store.backup(to: target, existing: .replace) { _, _ in
      left -= 1
      if left < 0 { kill(getpid(), SIGKILL) }
    }
  }

  private static func restore(_ path: String, from backup: String, dyingAfter count: Int) throws {
    var left = count
    try Store.restore(path, from: backup) { _, _ in
      left -= 1
      if left < 0 { kill(getpid(), SIGKILL) }
    }
  }

  /// Closes the store of `world`, after a backup of it if there is a place for one.
  private static func close(_ world: CopyWorld, backingUpTo target: String?) throws {
    if let target { try world.store.backup(to: target) }
    world.store.close()
  }

  @Test(arguments: [0, 1], [false, true])
  func aKilledBackupLeavesTheOldOneOrNone(steps: Int, isOldThere: Bool) async throws {
    let world = try CopyWorld()
    let (path, target) = (world.path, world.directory.file("backup.store"))
    try Self.close(world, backingUpTo: isOldThere ? target : nil)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, target = target as String, steps = steps as Int] in
      try CopyFaultTests.backUp(path, to: target, dyingAfter: steps)
    }
    #expect((access(target, F_OK) == 0) == isOldThere)
    if isOldThere { #expect(try world.findings(of: target) == []) }
    #expect(try world.findings(of: path) == [])
  }

  @Test(arguments: [0, 1]) func aKilledRestorationLeavesTheEarlierContent(steps: Int) async throws {
    let world = try CopyWorld()
    let (path, target) = (world.path, world.directory.file("backup.store"))
    let (backedUp, present) = try Self.changeAfterBackup(world, to: target)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, target = target as String, steps = steps as Int] in
      try CopyFaultTests.restore(path, from: target, dyingAfter: steps)
    }
    #expect(try world.findings(of: path) == [])
    #expect(try Self.hash(of: path) == present)
    try Self.restore(path, from: target, dyingAfter: .max)
    #expect(try Self.hash(of: path) == backedUp)
  }

  /// Backs `world` up, changes it and closes it. Returns the hashes of both states.
  private static func changeAfterBackup(
    _ world: CopyWorld, to target: String
  ) throws -> (ContentHash, ContentHash) {
    let before = try world.store.contentHash()
    try world.store.backup(to: target)
    try world.writeSome(1)
    let after = try world.store.contentHash()
    world.store.close()
    return (before, after)
  }

  private static func hash(of path: String) throws -> ContentHash {
    let store = try open(path)
    defer { store.close() }
    return try store.contentHash()
  }

  @Test(.enabled(if: DiskFullTests.SmallDisk.isPossible, "only root can mount a small disk"))
  func aFullDiskLeavesNoCopyAndNothingChanged() throws {
    let world = try CopyWorld()
    let disk = try DiskFullTests.SmallDisk(kilobytes: 512)
    let target = disk.path + "/backup.store"
    #expect(failure { try world.store.backup(to: target) }?.code == .outOfSpace)
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == [])
    let large = try DiskFullTests.SmallDisk(kilobytes: 4096)
    let path = large.path + "/full.store"
    let backup = world.directory.file("backup.store")
    try world.store.backup(to: backup)
    try Store.restore(path, from: backup)
    let store = try Self.open(path)
    let hash = try store.contentHash()
    try Data(repeating: 1, count: 1 << 20).write(to: URL(filePath: large.path + "/ballast"))
    #expect(failure { try store.compact() }?.code == .outOfSpace)
    #expect(failure { try Store.restore(path, from: backup) }?.code == .outOfSpace)
    #expect(try store.contentHash() == hash)
    #expect(try store.checkIntegrity() == [])
  }

  @Test(.enabled(if: DiskFullTests.SmallDisk.isPossible, "only root can mount a small disk"))
  func aDirectoryThatCannotBeWrittenHasNoCopy() throws {
    let world = try CopyWorld(recordCount: 10)
    let disk = try DiskFullTests.SmallDisk(kilobytes: 512)
    run("/bin/mount", "-o", "remount,ro", disk.path)
    #expect(
      failure { try world.store.backup(to: disk.path + "/backup.store") }?.code
        == .permissionDenied)
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == [])
  }
}
