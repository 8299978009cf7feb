import CSQLite
import Foundation
import Testing

/// What the file system of the temporary directory can do about files in the system's memory.
enum MemoryProbe {
  /// Lets the system forget a file, as it does when others need the memory.
  static func dropFromMemory(_ path: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["dd", "of=\(path)", "oflag=nocache", "conv=notrunc,fdatasync", "count=0"]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  /// Writes a file and runs `body` with its descriptor and path.
  static func withFile(
    byteCount: Int, _ body: (Int32, String) throws -> Bool
  ) -> Bool {
    do {
      let directory = try TemporaryDirectory()
      return try withExtendedLifetime(directory) {
        let path = directory.file("probe")
        try Data(count: byteCount).write(to: URL(fileURLWithPath: path))
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        return try withExtendedLifetime(file) { try body(file.fileDescriptor, path) }
      }
    } catch {
      return false
    }
  }

  /// Reads one byte at `offset`, without waiting for the disk.
  static func readCached(_ descriptor: Int32, at offset: Int) -> (count: Int, errno: Int32) {
    var byte: UInt8 = 0
    errno = 0
    let count = csqlite_read_cached(descriptor, &byte, 1, offset)
    return (count, errno)
  }

  /// Whether files of the temporary directory can be read without waiting for the disk.
  static let readsAtOnce = withFile(byteCount: 1) { file, _ in readCached(file, at: 0).count == 1 }

  /// Whether the temporary directory is on a disk whose files the system can forget.
  static let forgetsFiles = withFile(byteCount: 4 << 20) { file, path in
    // The first time, the file may still be on its way to the disk.
    for _ in 0..<2 { try dropFromMemory(path) }
    return readCached(file, at: 2 << 20).count == -1
  }
}
