import Foundation
import Glibc
import Testing

@testable import ModelStore

/// Databases on a file system that is mounted read-only, also for root.
@Suite(.tags(.process)) struct ReadOnlyMountTests {
  /// A file system in memory, mounted for one test.
  private final class Disk {
    /// Whether this process can mount one.
    static let isPossible: Bool = {
      guard getuid() == 0 else { return false }
      do {
        _ = try Disk()
        return true
      } catch {
        return false
      }
    }()

    struct NotMounted: Error {}

    let path: String
    private let directory: TemporaryDirectory

    init() throws {
      directory = try TemporaryDirectory()
      path = directory.file("disk")
      guard mkdir(path, 0o700) == 0,
        run("/bin/mount", "-t", "tmpfs", "-o", "size=4096k", "tmpfs", path) == 0
      else { throw NotMounted() }
    }

    deinit { run("/bin/umount", path) }

    func makeReadOnly() throws {
      guard run("/bin/mount", "-o", "remount,ro", path) == 0 else { throw NotMounted() }
    }
  }

  private func refusal(_ path: String, _ access: StoreConfiguration.Access) -> StoreError? {
    failure {
      _ = try Store(
        at: path, models: Artist.self, configuration: StoreConfiguration(access: access),
        onError: { _ in })
    }
  }

  @Test(
    .enabled(if: Disk.isPossible, "only root can mount a file system"),
    arguments: [StoreConfiguration.Access.readOnly, .readWrite, .readWriteCreate])
  func aFileWithALogSaysWhyItCannotBeRead(access: StoreConfiguration.Access) throws {
    let disk = try Disk()
    let path = disk.path + "/a.store"
    let store = try Store(at: path, models: Artist.self)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    store.close()
    try disk.makeReadOnly()
    let error = refusal(path, access)
    #expect(error?.code == .permissionDenied)
    #expect(
      error?.message == """
        \(path): reading takes a -shm file beside the database, and its file system is \
        read-only. Copy the database to a directory that you can write, or replace it with a copy \
        that VACUUM INTO made, which needs no such file.
        """)
  }

  @Test(.enabled(if: Disk.isPossible, "only root can mount a file system"))
  func theCopyThatTheMessageNamesCanBeRead() throws {
    let disk = try Disk()
    let (path, copy) = (disk.path + "/a.store", disk.path + "/copy.store")
    let store = try Store(at: path, models: Artist.self)
    try store.write { tx in try tx.insert(Artist(id: 1, name: "a")) }
    store.close()
    try PlainDatabase(path).execute("VACUUM INTO '\(copy)'")
    #expect(chmod(copy, 0o600) == 0)
    try disk.makeReadOnly()
    do {
      let reading = try Store(
        at: copy, models: Artist.self, configuration: StoreConfiguration(access: .readOnly))
      #expect(try reading.fetch(Artist.all) == [Artist(id: 1, name: "a")])
    }
    let refused = refusal(copy, .readWrite)
    #expect(refused?.code == .permissionDenied)
    #expect(refused?.message.contains("Open the store read-only") == true)
  }
}
