import CFaultVFS
import FaultLedger
import Glibc
import ModelStore

/// A program that writes a ledger until it is stopped, and prints the number of each transaction
/// once its commit has returned. The fault tests kill it, or cut the power of its disk.
///
/// Usage: `FaultWriter write PATH [after|before|unsynced] [CHECKPOINT-FRAMES]`,
/// `FaultWriter sample PATH [closed|killed]`, which writes the same bytes each time, or
/// `FaultWriter trust PATH`. The words `before` and `unsynced`, and `trust`, are negative controls:
/// an acknowledgement before its commit, a disk that skips syncs, and a reader that believes
/// whatever a file says and crashes.
@main struct FaultWriter {
  static func main() throws {
    let words = CommandLine.arguments
    guard words.count >= 3 else { throw Unusable(words: words) }
    switch words[1] {
    case "write":
      try write(
        to: words[2], mode: words.count > 3 ? words[3] : "after",
        checkpointFrameCount: words.count > 4 ? Int(words[4]) ?? 1000 : 1000)
    case "sample": try Sample(path: words[2]).write(isKilled: words.last == "killed")
    case "trust": try readTrustingly(words[2])
    default: throw Unusable(words: words)
    }
  }

  struct Unusable: Error {
    let words: [String]
  }

  private static func write(to path: String, mode: String, checkpointFrameCount: Int) throws {
    var configuration = StoreConfiguration()
    configuration.checkpointFrameCount = checkpointFrameCount
    if mode == "unsynced" {
      guard fault_vfs_register() == 0 else { throw Unusable(words: [mode]) }
      fault_vfs_skip_syncs(1)
      configuration.fileSystem = "fault"
    }
    let ledger = try Ledger(at: path, configuration: configuration)
    var number = try ledger.newestNumber() + 1
    while true {
      if mode == "before" { acknowledge(number) }
      try ledger.write(number)
      if mode != "before" { acknowledge(number) }
      number += 1
    }
  }

  /// Prints `number` on a line of its own, in one call of the system.
  private static func acknowledge(_ number: Int64) {
    let line = "\(number)\n"
    guard line.withCString({ Glibc.write(1, $0, strlen($0)) }) == line.utf8.count else { exit(1) }
  }

  /// Walks the pages of a database file and traps at the first that is not as it should be.
  private static func readTrustingly(_ path: String) throws {
    guard let file = fopen(path, "rb") else { throw Unusable(words: [path]) }
    var bytes: [UInt8] = []
    var byte = fgetc(file)
    while byte != EOF {
      bytes.append(UInt8(byte))
      byte = fgetc(file)
    }
    fclose(file)
    let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
    for start in stride(from: 0, to: bytes.count, by: pageSize) {
      let header = start == 0 ? 100 : start
      let cells = Int(bytes[header + 3]) << 8 | Int(bytes[header + 4])
      guard [2, 5, 10, 13].contains(bytes[header]), cells > 0 else { continue }
      for cell in 0..<cells {
        let pointer = header + ([2, 5].contains(bytes[header]) ? 12 : 8) + cell * 2
        let offset = Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1])
        precondition(offset >= header - start && offset < pageSize, "cell \(cell) lies outside")
      }
    }
  }
}
