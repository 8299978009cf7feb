import Foundation

/// A small ext4 disk inside a file that can be cloned in one step. A clone holds what the disk had
/// received at that moment: what a power cut would leave.
///
/// The file lies on an XFS file system with shared extents, where `cp --reflink` is atomic. Needs
/// root, mkfs.xfs and mkfs.ext4.
final class CuttableDisk {
  private let directory: TemporaryDirectory
  /// Where the live disk is mounted.
  let live: String
  private let outer: String
  private var isOuterMounted = false
  private var isLiveMounted = false

  /// Why there can be none here, or nil.
  static let obstacle: String? = {
    guard geteuid() == 0 else { return "only root can mount a disk" }
    let tools = ["mkfs.xfs", "mkfs.ext4"].filter { name in
      !["/usr/sbin/", "/sbin/"].contains { FileManager.default.isExecutableFile(atPath: $0 + name) }
    }
    guard tools.isEmpty else { return "\(tools.joined(separator: " and ")) missing" }
    do {
      _ = try CuttableDisk()
      return nil
    } catch {
      return "no disk could be mounted: \(error)"
    }
  }()

  struct Failure: Error {
    let words: [String]
    let status: Int32
  }

  init() throws {
    let memory = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : nil
    directory = try TemporaryDirectory(in: memory)
    outer = directory.file("outer")
    live = directory.file("live")
    for path in [outer, live] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    try Self.run("truncate", "-s", "1G", directory.file("outer.img"))
    try Self.run("mkfs.xfs", "-q", "-m", "reflink=1", directory.file("outer.img"))
    try Self.run("mount", "-o", "loop", directory.file("outer.img"), outer)
    isOuterMounted = true
    try Self.run("truncate", "-s", "128M", outer + "/disk.img")
    try Self.run("mkfs.ext4", "-q", outer + "/disk.img")
    try Self.run("mount", "-o", "loop", outer + "/disk.img", live)
    isLiveMounted = true
  }

  deinit {
    do {
      if isLiveMounted { try Self.unmount(live) }
      if isOuterMounted { try Self.unmount(outer) }
    } catch {
      print("could not unmount: \(error)")
    }
  }

  /// Runs `body` with the directory that shows the disk as a power cut now would leave it.
  func cut<Result>(_ body: (String) throws -> Result) throws -> Result {
    let image = outer + "/cut.img"
    let place = directory.file("cut")
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    try Self.run("cp", "--reflink=always", outer + "/disk.img", image)
    try Self.run("mount", "-o", "loop", image, place)
    defer {
      do {
        try Self.unmount(place)
        try Self.run("rm", image)
      } catch {
        print("could not unmount: \(error)")
      }
    }
    return try body(place)
  }

  /// Unmounts a disk.
  ///
  /// A program that another suite is starting has copies of this process's descriptors until it
  /// runs, so the first attempts may find the disk busy.
  private static func unmount(_ place: String) throws {
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
      if try Programs.run(["/usr/bin/env", "umount", place]) == 0 { return }
    }
    try run("umount", place)
  }

  private static func run(_ words: String...) throws {
    let status = try Programs.run(["/usr/bin/env"] + words)
    guard status == 0 else { throw Failure(words: words, status: status) }
  }
}
