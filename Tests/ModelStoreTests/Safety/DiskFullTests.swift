import Foundation
import Glibc
import Testing

@testable import ModelStore

/// A full disk is one clear error; what was there stays, and the next write after space is free
/// works.
@Suite(.tags(.process)) struct DiskFullTests {
  /// A small file system in memory, mounted for one test.
  final class SmallDisk {
    /// Whether this process can mount one.
    static let isPossible: Bool = {
      guard getuid() == 0 else { return false }
      do {
        _ = try SmallDisk(kilobytes: 64)
        return true
      } catch {
        return false
      }
    }()

    struct NotMounted: Error {}

    let path: String
    private let directory: TemporaryDirectory

    init(kilobytes: Int) throws {
      directory = try TemporaryDirectory()
      path = directory.file("disk")
      guard mkdir(path, 0o700) == 0,
        run("/bin/mount", "-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs", path) == 0
      else { throw NotMounted() }
    }

    deinit {
      run("/bin/umount", path)
    }

    var usedByteCount: Int {
      get throws {
        var status = statvfs()
        try #require(statvfs(path, &status) == 0)
        return Int(status.f_blocks - status.f_bfree) * Int(status.f_frsize)
      }
    }

    /// The space of the files that have a name.
    var fileByteCount: Int {
      get throws {
        try FileManager.default.contentsOfDirectory(atPath: path).reduce(0) { sum, name in
          var status = stat()
          try #require(lstat(path + "/" + name, &status) == 0)
          return sum + Int(status.st_blocks) * 512
        }
      }
    }
  }

  @Test(
    .enabled(if: SmallDisk.isPossible, "only root can mount a small disk"),
    arguments: [352, 1024, 4096])
  func aFullDiskLosesNothingAndWritesWorkAgainOnceThereIsSpace(kilobytes: Int) throws {
    let disk = try SmallDisk(kilobytes: kilobytes)
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
    #expect(try store.checkIntegrity() == [])
    #expect(Set(reports.events).isSubset(of: [.outOfSpace]), "\(reports.events)")

    #expect(unlink(ballast) == 0)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "after")) }
    #expect(try store.fetch(Artist.all).map(\.id).sorted() == [1] + wanted)
    #expect(try store.checkIntegrity() == [])
  }

  /// Takes all space that is left.
  private func fill(_ disk: SmallDisk) throws {
    // While another test starts a program, that program holds the store's removed files for a
    // moment, and their space becomes free only after it.
    while try disk.usedByteCount > disk.fileByteCount { sched_yield() }
    let descriptor = open(disk.path + "/fill", O_CREAT | O_WRONLY | O_APPEND, 0o600)
    try #require(descriptor >= 0)
    let page = [UInt8](repeating: 1, count: 4096)
    while Glibc.write(descriptor, page, page.count) == page.count {}
    #expect(errno == ENOSPC)
    close(descriptor)
  }

  private static func artists(_ ids: ClosedRange<Int64>) -> [Artist] {
    ids.map { Artist(id: $0, name: String(repeating: "n", count: 120)) }
  }

  @Test(
    .enabled(if: SmallDisk.isPossible, "only root can mount a small disk"),
    arguments: [JournalDetail?.none, .full], [false, true])
  func aFullDiskAllowsDeletingAndTrimming(journal: JournalDetail?, isReopened: Bool) throws {
    let disk = try SmallDisk(kilobytes: 4096)
    let path = disk.path + "/full.store"
    var configuration = StoreConfiguration()
    configuration.changeJournal = journal
    let reports = Recorder<String>()
    var store = try Store(
      at: path, models: Artist.self, configuration: configuration, onError: { reports.add("\($0)") }
    )
    try store.write { tx in for artist in Self.artists(1...2000) { try tx.insert(artist) } }
    if isReopened { store.close() }
    try fill(disk)
    if isReopened {
      store = try Store(
        at: path, models: Artist.self, configuration: configuration,
        onError: { reports.add("\($0)") })
    }
    // What is kept free for deletions is not for anything else.
    let insert = {
      try store.write { tx in for artist in Self.artists(3000...4999) { try tx.insert(artist) } }
    }
    #expect(code(of: insert) == .outOfSpace)
    for first in [1, 101] as [Int64] {
      let deleted = try store.write { tx in
        try tx.delete(Artist.where { $0.id >= first && $0.id < first + 100 })
      }
      #expect(deleted == 100)
      guard journal != nil else { continue }
      let trimming = try store.changeJournal.trim(JournalRetention(maxEntryCount: 0))
      #expect(trimming.removedCount > 0)
    }
    #expect(try store.fetch(Artist.all).map(\.id) == Array(201...2000))
    #expect(unlink(disk.path + "/fill") == 0)
    try insert()
    #expect(try store.fetch(Artist.all).count == 3800)
    #expect(try store.checkIntegrity() == [])
    #expect(reports.events == [])
  }

  /// With the reserve and without it. The control: a plain connection cannot read the file then.
  @Test(
    .enabled(if: SmallDisk.isPossible, "only root can mount a small disk"),
    arguments: [true, false])
  func aClosedStoreIsReadOnAFullDisk(hasReserve: Bool) throws {
    let disk = try SmallDisk(kilobytes: 4096)
    let path = disk.path + "/full.store"
    do {
      let store = try Store(at: path, models: Artist.self)
      try store.write { tx in for artist in Self.artists(1...500) { try tx.insert(artist) } }
      store.close()
    }
    #expect(hasReserve || unlink(path + "-reserve") == 0)
    try fill(disk)
    #expect(throws: PlainDatabase.Failure.self) {
      try PlainDatabase(path).rows("SELECT count(*) FROM Artist")
    }
    var configuration = StoreConfiguration()
    configuration.access = .readOnly
    for _ in 1...2 {
      let store = try Store(at: path, models: Artist.self, configuration: configuration)
      let ids = try store.read { tx in
        // A second connection reads beside the first.
        try store.fetch(Artist.all).map(\.id) + tx.fetch(Artist.all).map(\.id)
      }
      #expect(ids == Array(1...500) + Array(1...500))
      #expect(try store.checkIntegrity() == [])
      store.close()
    }
  }

  @Test func onADiskWithRoomTheStoreIsOneFile() throws {
    let directory = try TemporaryDirectory()
    let store = try Store(at: directory.file("roomy.store"), models: Artist.self)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    store.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["roomy.store"])
  }

  @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a small disk"))
  func aForeignFileIsNeverUsedAsTheReserve() throws {
    let disk = try SmallDisk(kilobytes: 4096)
    let path = disk.path + "/full.store"
    try write([UInt8](repeating: 7, count: 128 << 10), to: path + "-reserve")
    let store = try Store(at: path, models: Artist.self)
    try store.write { tx in for artist in Self.artists(1...500) { try tx.insert(artist) } }
    try fill(disk)
    let delete = { try store.write { tx in _ = try tx.delete(Artist.all) } }
    #expect(code(of: delete) == .outOfSpace)
    #expect(
      try FileManager.default.attributesOfItem(atPath: path + "-reserve")[.size] as? Int
        == 128 << 10)
  }

  /// After a checkpoint the first transaction begins the log again, and hands its pages to the log
  /// before COMMIT, so that the system's refusal comes from another call.
  @Test(
    "a file size limit counts as a full disk, also for the first transaction of a log",
    .ownThreads,
    arguments: [false, true])
  func aFileSizeLimitIsOutOfSpaceToo(afterCheckpoint isCheckpointed: Bool) async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("limited.store")
    await #expect(processExitsWith: .success) {
      [path = path as String, isCheckpointed = isCheckpointed as Bool] in
      // SIGXFSZ would end the process; the program has to ignore it.
      signal(SIGXFSZ, SIG_IGN)
      let store = try Store(at: path, models: Artist.self)
      try store.write { tx in try tx.insert(Artist(id: 1, name: "kept")) }
      if isCheckpointed { try store.checkpoint() }
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
