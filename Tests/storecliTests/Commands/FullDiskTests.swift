import Foundation
import Glibc
import Testing

/// The commands on a disk without free space: reading and deleting work, and no message says of a
/// commit that it did not happen.
@Suite(.tags(.process)) struct FullDiskTests {
  final class SmallDisk {
    /// Whether this process can mount one.
    static let isPossible: Bool = {
      let path = FileManager.default.temporaryDirectory.path + "/storecli-\(UUID().uuidString)"
      guard getuid() == 0, mkdir(path, 0o700) == 0 else { return false }
      defer { rmdir(path) }
      guard Glibc.mount("tmpfs", path, "tmpfs", 0, "size=64k") == 0 else { return false }
      return umount(path) == 0
    }()

    let place: Workplace
    let path: String

    init(kilobytes: Int) throws {
      place = try Workplace()
      path = place.path("disk")
      try #require(mkdir(path, 0o700) == 0)
      try #require(Glibc.mount("tmpfs", path, "tmpfs", 0, "size=\(kilobytes)k") == 0)
      place.environment["STORECLI_DB"] = path + "/full.store"
      let database = try RawDatabase(path + "/full.store")
      try database.execute("CREATE TABLE item(id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
    }

    deinit {
      umount(path)
    }

    /// Writes a CSV of `count` records with titles of `length` characters.
    func writeItems(_ count: Int, length: Int) throws {
      let title = String(repeating: "t", count: length)
      try place.write(
        "id,title\n" + (1...count).map { "\($0),\(title)\n" }.joined(), to: "items.csv")
    }

    func fill() throws {
      let descriptor = open(path + "/fill", O_CREAT | O_WRONLY | O_APPEND, 0o600)
      try #require(descriptor >= 0)
      let page = [UInt8](repeating: 1, count: 4096)
      while write(descriptor, page, page.count) == page.count {}
      close(descriptor)
    }
  }

  @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a small disk"))
  func aFullDiskAllowsReadingDeletingAndTrimming() throws {
    let disk = try SmallDisk(kilobytes: 4096)
    let place = disk.place
    try disk.writeItems(4000, length: 100)
    for words in [["adopt"], ["journal", "on"], ["import", "items.csv", "--model", "item"]] {
      let outcome = try place.runProcess(words)
      #expect(outcome.code == 0, "\(words) \(outcome)")
    }
    try disk.fill()
    #expect(
      try place.runProcess("query", "item", "--count", "-q")
        == Outcome(code: 0, out: "4000\n", err: ""))
    for first in [1, 101] {
      let outcome = try place.runProcess(
        "delete", "item", "--where", "id >= \(first) and id < \(first + 100)", "--yes", "-q")
      #expect(outcome.code == 0 && outcome.err.isEmpty, "\(outcome)")
      let trimming = try place.runProcess("journal", "trim", "--keep", "0")
      #expect(trimming.code == 0 && trimming.err.contains(" removed, positions "), "\(trimming)")
    }
    #expect(try place.runProcess("query", "item", "--count", "-q").out == "3800\n")
    #expect(try place.runProcess("doctor", "-q").code == 0)
    #expect(unlink(disk.path + "/fill") == 0)
    #expect(try place.runProcess("insert", "item", "title=next", "-q").code == 0)
  }

  /// Without the reserve there is no room for the file that readers share, so the file is opened
  /// by one reader alone. It reads the catalog as every reading command does.
  @Test(
    "on a full disk, other models can be read beside an entry of a newer program",
    .enabled(if: SmallDisk.isPossible, "only root can mount a small disk"),
    arguments: [true, false])
  func aNewerEntryHindersNoReaderOnAFullDisk(hasReserve: Bool) throws {
    let disk = try SmallDisk(kilobytes: 4096)
    let place = disk.place
    let path = disk.path + "/full.store"
    try RawDatabase(path).execute("CREATE TABLE later(id INTEGER PRIMARY KEY)")
    try disk.writeItems(500, length: 100)
    for words in [["adopt"], ["import", "items.csv", "--model", "item"]] {
      let outcome = try place.runProcess(words)
      #expect(outcome.code == 0, "\(words) \(outcome)")
    }
    try RawDatabase(path).execute(
      "UPDATE _ms_models SET definition = json_set(definition, '$.later', 1) WHERE name = 'later'")
    #expect(hasReserve || unlink(path + "-reserve") == 0)
    try disk.fill()
    #expect(
      try place.runProcess("query", "item", "--count", "-q")
        == Outcome(code: 0, out: "500\n", err: ""))
    let refused = try place.runProcess("query", "later")
    #expect(refused.code == 6, "\(refused)")
    #expect(
      refused.err.hasPrefix("error[newerFormat]: The entry of the model later has a format "),
      "\(refused)")
  }

  @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a small disk"))
  func aCompletedCommitIsNotReportedAsUndone() throws {
    // Room for the log of the import, and none to copy it into the database.
    let disk = try SmallDisk(kilobytes: 7 * 1024)
    let place = disk.place
    #expect(try place.runProcess("adopt").code == 0)
    try disk.writeItems(4200, length: 1000)
    let outcome = try place.runProcess("import", "items.csv", "--model", "item", "-q")
    #expect(outcome.code == 0)
    #expect(
      outcome.err
        == "warning[outOfSpace]: The commit is complete; copying the write-ahead log into the database "
        + "failed after it: The disk is full. Free space, then try again.\n")
    #expect(try place.runProcess("query", "item", "--count", "-q").out == "4200\n")
  }

  @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a small disk"))
  func aFullDiskIsOneErrorWithOneRemedy() throws {
    let disk = try SmallDisk(kilobytes: 7 * 1024)
    let place = disk.place
    #expect(try place.runProcess("adopt").code == 0)
    try disk.writeItems(9000, length: 1000)
    let outcome = try place.runProcess(
      "import", "items.csv", "--model", "item", "--batch", "100", "-q")
    #expect(outcome.code == 1)
    let lines = outcome.err.split(separator: "\n")
    #expect(lines.count { $0.contains("outOfSpace") } == 1, "\(outcome)")
    #expect(lines.count { $0.contains("Free space") } == 1, "\(outcome)")
    #expect(lines.contains { $0.hasSuffix(" stay written") }, "\(outcome)")
  }
}
