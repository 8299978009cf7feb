import Foundation
import Glibc
import Testing

@testable import ModelStore

/// A full disk is one clear error; what was there stays, and the next write after space is free
/// works.
@Suite struct DiskFullTests {
  /// A small file system in memory, mounted for one test.
  private final class SmallDisk {
    let path: String
    private let directory: TemporaryDirectory

    init?(kilobytes: Int) throws {
      directory = try TemporaryDirectory()
      path = directory.file("disk")
      guard getuid() == 0, mkdir(path, 0o700) == 0,
        run("/bin/mount", "-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs", path) == 0
      else {
        print("SKIPPED: only root can mount a small disk; nothing was proved about a full one")
        return nil
      }
    }

    deinit {
      run("/bin/umount", path)
    }
  }

  @Test(arguments: [256, 1024, 4096])
  func aFullDiskLosesNothingAndWorkGoesOnOnceThereIsSpace(kilobytes: Int) throws {
    guard let disk = try SmallDisk(kilobytes: kilobytes) else { return }
    let ballast = disk.path + "/ballast"
    try write([UInt8](repeating: 1, count: 96 << 10), to: ballast)
    var configuration = StoreConfiguration()
    configuration.checkpointFrameCount = 20
    let reports = Recorder<StoreError.Code>()
    let store = try Store(
      at: disk.path + "/full.store", models: Artist.self, configuration: configuration,
      onError: { reports.add($0.code) })
    var kept: [Int64] = []
    var failed: StoreError.Code?
    for id in 1...20_000 where failed == nil {
      failed = code {
        try store.write { tx in
          for part in 0..<20 {
            try tx.insert(
              Artist(id: Int64(id * 100 + part), name: String(repeating: "n", count: 120)))
          }
        }
      }
      if failed == nil { kept.append(Int64(id * 100)) }
    }
    #expect(failed == .outOfSpace)
    #expect(!kept.isEmpty)
    let wanted = kept.flatMap { first in (0..<20).map { first + $0 } }
    #expect(try store.fetch(Artist.all).map(\.id).sorted() == wanted)
    #expect(try store.check() == [])
    #expect(Set(reports.events).isSubset(of: [.outOfSpace]), "\(reports.events)")

    #expect(unlink(ballast) == 0)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "after")) }
    #expect(try store.fetch(Artist.all).map(\.id).sorted() == [1] + wanted)
    #expect(try store.check() == [])
  }

  @Test func aFileSizeLimitIsOutOfSpaceToo() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("limited.store")
    await #expect(processExitsWith: .success) { [path = path as String] in
      // SIGXFSZ would end the process; the program has to ignore it.
      signal(SIGXFSZ, SIG_IGN)
      let store = try Store(at: path, models: Artist.self)
      try store.write { tx in try tx.insert(Artist(id: 1, name: "kept")) }
      var limit = rlimit(rlim_cur: 200_000, rlim_max: rlim_t.max)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      let found = code {
        try store.write { tx in
          for id in 2...5_000 {
            try tx.insert(Artist(id: Int64(id), name: String(repeating: "n", count: 120)))
          }
        }
      }
      limit.rlim_cur = rlim_t.max
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      #expect(found == .outOfSpace)
      #expect(try store.fetch(Artist.all).map(\.id) == [1])
      try store.write { tx in try tx.insert(Artist(id: 2, name: "next")) }
      #expect(try store.fetch(Artist.all).map(\.id) == [1, 2])
    }
  }
}
