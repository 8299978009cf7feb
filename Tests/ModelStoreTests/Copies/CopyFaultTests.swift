import Foundation
import Glibc
import Testing

@testable import ModelStore

/// Copies that a kill or a full disk interrupts leave the old file or the new one.
@Suite(.tags(.fault), .ownThreads) struct CopyFaultTests {
  private static func open(_ path: String) throws -> Store {
    try Store(at: path, models: Artist.self, Album.self)
  }

  /// Ends this process like a power cut after some steps.
  private static func die(after count: Int) -> (Int, Int) -> Void {
    var left = count
    return { _, _ in
      left -= 1
      if left < 0 { kill(getpid(), SIGKILL) }
    }
  }

  @Test(arguments: [0, 1]) func aKilledBackupLeavesTheOldOneOrNone(steps: Int) async throws {
    let world = try CopyWorld()
    let (path, target) = (world.path, world.directory.file("backup.store"))
    for isOld in [false, true] {
      if isOld { try world.store.backup(to: target) }
      world.store.close()
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, target = target as String, steps = steps as Int] in
        let store = try CopyFaultTests.open(path)
        try store.backup(
          to: target, existing: .replace, onProgress: CopyFaultTests.die(after: steps))
      }
      #expect((access(target, F_OK) == 0) == isOld)
      if isOld { #expect(try world.findings(of: target) == []) }
      #expect(try world.findings(of: path) == [])
      guard !isOld else { break }
      let store = try Self.open(path)
      try store.backup(to: target)
      store.close()
    }
  }

  @Test(arguments: [0, 1]) func aKilledRestorationLeavesTheEarlierContent(steps: Int) async throws {
    let world = try CopyWorld()
    let (path, target) = (world.path, world.directory.file("backup.store"))
    try world.store.backup(to: target)
    try world.writeSome(1)
    let hash = try world.store.contentHash()
    world.store.close()
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, target = target as String, steps = steps as Int] in
      try Store.restore(path, from: target, onProgress: CopyFaultTests.die(after: steps))
    }
    #expect(try world.findings(of: path) == [])
    let store = try Self.open(path)
    #expect(try store.contentHash() == hash)
    try Store.restore(path, from: target)
    #expect(try store.contentHash() != hash)
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
}
