import Foundation
import Testing

/// Damaged files: the command line ends by itself with one of its exit codes, whatever a database
/// or its log holds.
@Suite(.tags(.fault), .serialized) struct DamagedFileTests {
  /// The exit codes that `storecli help exit-codes` lists, interruptions excepted.
  private static let exitCodes: Set<Int32> = [0, 1, 2, 3, 4, 5, 6, 64]

  private static let commands: [[String]] = [
    ["models"], ["models", "Account"], ["query", "Deposit"], ["query", "Deposit", "amount > 3"],
    ["query", "Deposit", "--sort", "amount", "--limit", "5"], ["get", "Account", "1"],
    ["query", "--sql", "SELECT count(*), sum(amount) FROM Deposit"], ["history", "--limit", "5"],
    ["doctor"], ["validate"], ["export", "Deposit", "-o", "ndjson"], ["journal", "status"],
    ["bindings", "check"], ["bindings"], ["rules"], ["adopt", "-n"], ["consumers"],
    ["insert", "Deposit", "id=900001", "accountID=1", "amount=3"],
    ["update", "Account", "2", "balance=5"], ["delete", "Deposit", "3"],
    ["undo"], ["journal", "trim", "--keep", "3"],
    ["watch", "--since", "0", "--timeout", "0s", "--ndjson"],
  ]

  @Test func theCommandLineSurvivesDamagedFiles() throws {
    let seed = FaultOptions.seed
    print("damaged files: \(FaultOptions.mutationCount) files, SEED=\(seed)")
    let program = try Programs.path(of: "storecli")
    var field = try DamagedFiles(seed: seed)
    var generator = SeededGenerator(seed: seed &+ 1)
    var answers: [Int32: Int] = [:]
    for number in 0..<FaultOptions.mutationCount {
      let file = try field.makeFile()
      var commands: [[String]] = []
      for _ in 0..<2 {
        let command = Self.commands[Int.random(in: Self.commands.indices, using: &generator)]
        commands.append(command)
        let status = try DamagedFiles.run([program] + command + ["-d", file.path])
        answers[status, default: 0] += 1
        guard !Self.exitCodes.contains(status) else { continue }
        let kept = try file.keep(as: "seed-\(seed)-file-\(number)", commands: commands)
        Issue.record("\(command) ended with \(status); the file before it: \(kept) (SEED=\(seed))")
        break
      }
    }
    print("damaged files: exit codes \(answers.sorted { $0.key < $1.key })")
    // Damage that no command notices, or that lets none work, would prove nothing.
    #expect((answers[0] ?? 0) > 0 && (answers[1] ?? 0) > 0, "\(answers)")
  }

  @Test func theSameSeedGivesTheSameFiles() throws {
    var (first, second) = (try DamagedFiles(seed: 7), try DamagedFiles(seed: 7))
    for number in 0..<40 {
      let (left, right) = (try first.makeFile(), try second.makeFile())
      #expect(left.database == right.database && left.log == right.log, "file \(number)")
    }
  }

  @Test func aReaderThatTrustsTheFileIsFound() throws {
    let seed = FaultOptions.seed
    let program = try Programs.path(of: "FaultWriter")
    var field = try DamagedFiles(seed: seed)
    var crashes = 0
    // Enough rounds that every seed causes a crash.
    for _ in 0..<3000 where crashes == 0 {
      let path = try field.makeFile().path
      if try DamagedFiles.run([program, "trust", path]) > 128 { crashes += 1 }
    }
    #expect(crashes > 0, "seed \(seed)")
  }
}

/// Copies of a ledger, closed and with a log, each damaged in another way. A seed always gives the
/// same files.
private struct DamagedFiles {
  private let directory: TemporaryDirectory
  private var mutator: FileMutator
  private var generator: SeededGenerator
  /// A closed file, and one whose writer was killed, with its log.
  private let closed: [UInt8]
  private let killed: (database: [UInt8], log: [UInt8])

  init(seed: UInt64) throws {
    directory = try TemporaryDirectory()
    mutator = FileMutator(seed: seed)
    generator = SeededGenerator(seed: seed &+ 2)
    let program = try Programs.path(of: "FaultWriter")
    let (sound, logged) = (directory.file("closed.store"), directory.file("killed.store"))
    try #require(try Programs.run([program, "sample", sound, "closed"]) == 0)
    try #require(try Programs.run([program, "sample", logged, "killed"]) == 128 + SIGKILL)
    closed = try Self.bytes(of: sound)
    killed = (try Self.bytes(of: logged), try Self.bytes(of: logged + "-wal"))
    try #require(!killed.log.isEmpty)
  }

  /// A damaged file, as it was before any command ran on it.
  struct File {
    let path: String
    let database: [UInt8]
    let log: [UInt8]

    /// Writes the file into `.build/faults`, with the commands that were run on it.
    ///
    /// - Returns: Where it is.
    func keep(as name: String, commands: [[String]]) throws -> String {
      var root = URL(fileURLWithPath: #filePath)
      for _ in 1...3 { root.deleteLastPathComponent() }
      let folder = root.appendingPathComponent(".build/faults")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let kept = folder.appendingPathComponent(name + ".store").path
      try Data(database).write(to: URL(fileURLWithPath: kept))
      if !log.isEmpty { try Data(log).write(to: URL(fileURLWithPath: kept + "-wal")) }
      let lines = commands.map { command in
        let words = (command + ["-d", kept]).map { "'\($0)'" }
        return ".build/debug/storecli " + words.joined(separator: " ") + "\n"
      }
      try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: kept + ".sh"))
      return kept
    }
  }

  /// Writes the next damaged file in place of the one before.
  mutating func makeFile() throws -> File {
    let path = directory.file("damaged.store")
    try remove(path)
    var database = closed
    var log: [UInt8] = []
    switch Int.random(in: 0..<8, using: &generator) {
    case 0, 1:
      try Data(closed).write(to: URL(fileURLWithPath: path))
      try HostileRows(path: path).write(using: &generator)
      database = try Self.bytes(of: path)
    case 2, 3, 4: mutator.mutate(&database)
    case 5:
      (database, log) = killed
      mutator.mutate(&database)
    default:
      (database, log) = killed
      mutator.mutateLog(&log)
    }
    try remove(path)
    try Data(database).write(to: URL(fileURLWithPath: path))
    if !log.isEmpty { try Data(log).write(to: URL(fileURLWithPath: path + "-wal")) }
    return File(path: path, database: database, log: log)
  }

  private func remove(_ path: String) throws {
    for ending in ["", "-wal", "-shm", "-journal"] {
      if FileManager.default.fileExists(atPath: path + ending) {
        try FileManager.default.removeItem(atPath: path + ending)
      }
    }
  }

  /// Runs a program with 4 GB of address space; one that hangs for ten minutes is killed (137).
  static func run(_ words: [String]) throws -> Int32 {
    let script = #"ulimit -v 4000000; ulimit -c 0; exec timeout -s KILL 600 "$@""#
    return try Programs.run(["/bin/sh", "-c", script, "sh"] + words)
  }

  private static func bytes(of path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }
}
