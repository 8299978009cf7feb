import CSQLite
import Foundation

@testable import ModelStore

/// One file through random steps of a store, of other programs and of crashes. After each step the
/// file and its log, as a crash would leave them, are compared as on opening.
struct LogLife {
  /// Steps after which the log was taken for that of another state.
  private(set) var refusals: [String] = []
  /// How many logs named the state that they continue.
  private(set) var linkedCount = 0
  /// How many logs were refused beside an earlier state of the file.
  private(set) var mismatchCount = 0

  private let directory: String
  private var generator: SeededGenerator
  private var path: String
  private var store: Store?
  private var other: PlainDatabase?
  private var reader: PlainDatabase?
  private var steps: [String] = []
  /// The database's own file after earlier steps.
  private var states: [[UInt8]] = []
  private var nextID: Int64 = 1
  private var fileCount = 0

  private enum Step: CaseIterable {
    case write, writeMuch, delete, fail, checkpoint, reopen, crash
    case foreignWrite, foreignSchema, foreignVacuum, foreignRestore, foreignLink, foreignDeletion
    case passive, full, restart, truncate, beginReading, endReading, leave
  }

  init(_ directory: String, seed: UInt64) throws {
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    self.directory = directory
    path = directory + "/app-0.db"
    generator = SeededGenerator(seed: seed)
  }

  mutating func run() throws {
    let pageSize = [512, 1024, 4096].randomElement(using: &generator) ?? 4096
    try PlainDatabase(path).execute("PRAGMA page_size = \(pageSize); VACUUM")
    try openStore()
    for _ in 0..<15 {
      guard let step = Step.allCases.randomElement(using: &generator) else { return }
      steps.append("\(step)")
      try take(step)
      try compare()
    }
    reader = nil
    other = nil
    store?.close()
    try FileManager.default.removeItem(atPath: directory)
  }

  private mutating func openStore() throws {
    var configuration = StoreConfiguration()
    configuration.durability = .normal
    configuration.busyTimeout = .zero
    configuration.checkpointFrameCount = [3, 20, 1000].randomElement(using: &generator) ?? 20
    store = try Store(at: path, models: Artist.self, configuration: configuration)
  }

  private mutating func insert(_ count: Int) throws {
    let first = nextID
    nextID += Int64(count)
    try store?.write { tx in
      for id in first..<first + Int64(count) {
        try tx.insert(Artist(id: id, name: String(repeating: "n", count: 100)))
      }
    }
  }

  private mutating func take(_ step: Step) throws {
    switch step {
    case .write: try insert(1)
    case .writeMuch: try insert(60)
    case .delete: try store?.write { tx in try tx.execute("DELETE FROM Artist WHERE id % 3 = 0") }
    case .fail:
      do {
        try store?.write { tx in
          try tx.insert(Artist(id: -1, name: "n"))
          throw CancellationError()
        }
      } catch is CancellationError {}
    case .checkpoint: try store?.checkpoint()
    case .reopen:
      store?.close()
      try openStore()
    case .crash: try crash()
    case .beginReading:
      reader = try PlainDatabase(path)
      try reader?.execute("BEGIN; SELECT count(*) FROM Artist")
    case .endReading: reader = nil
    case .leave: other = nil
    default: try takeForeign(step)
    }
  }

  /// A step of another program, which a reader may refuse.
  private mutating func takeForeign(_ step: Step) throws {
    if other == nil { other = try PlainDatabase(path) }
    guard let other else { return }
    sqlite3_busy_timeout(other.handle, 0)
    let id = nextID
    nextID += 1
    do {
      switch step {
      case .foreignWrite:
        try other.execute("INSERT INTO Artist VALUES (\(id), 'foreign')")
      case .foreignSchema:
        try other.execute("CREATE TABLE t\(id) (x); INSERT INTO t\(id) VALUES (1)")
      case .foreignVacuum: try other.execute("VACUUM")
      case .foreignRestore: try restore(to: other)
      case .foreignLink:
        let link = LogLink(log: Array(1...8), previous: nil, header: Array(1...16))
        let text = link.bytes.map { String(format: "%02x", $0) }.joined()
        try other.execute("INSERT OR REPLACE INTO _ms_log VALUES (1, x'\(text)')")
      case .foreignDeletion: try other.execute("DELETE FROM _ms_log")
      case .full: try other.execute("PRAGMA wal_checkpoint(FULL)")
      case .restart: try other.execute("PRAGMA wal_checkpoint(RESTART)")
      case .truncate: try other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      default: try other.execute("PRAGMA wal_checkpoint(PASSIVE)")
      }
    } catch let failure as PlainDatabase.Failure {
      guard [SQLITE_BUSY, SQLITE_LOCKED].contains(failure.code & 0xFF) else { throw failure }
    }
  }

  /// Restores an earlier state through SQLite's backup interface, which writes to the log.
  private mutating func restore(to database: PlainDatabase) throws {
    guard let state = states.randomElement(using: &generator) else { return }
    let backup = newPath("backup")
    try write(state, to: backup)
    let source = try PlainDatabase(backup)
    let copying = sqlite3_backup_init(database.handle, "main", source.handle, "main")
    let code = sqlite3_backup_step(copying, -1)
    sqlite3_backup_finish(copying)
    guard code == SQLITE_DONE else {
      throw PlainDatabase.Failure(code: code, description: "the backup ended with \(code)")
    }
  }

  private mutating func newPath(_ name: String) -> String {
    fileCount += 1
    return directory + "/\(name)-\(fileCount).db"
  }

  /// Goes on with what a killed process would leave.
  private mutating func crash() throws {
    let copy = try snapshot()
    reader = nil
    other = nil
    store?.close()
    path = copy
    try openStore()
  }

  private mutating func snapshot() throws -> String {
    let copy = newPath("app")
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
      try write(try bytes(of: path + suffix), to: copy + suffix)
    }
    return copy
  }

  private mutating func compare() throws {
    if try isRefused(path) { refusals.append("open: \(steps)") }
    let copy = try snapshot()
    if try isRefused(copy) { refusals.append("crashed: \(steps)") }
    let log = (try? bytes(of: copy + "-wal")) ?? []
    let read: LogHeader.Bytes = { offset, count in Array(log.dropFirst(offset).prefix(count)) }
    let state = try bytes(of: copy)
    if LogHeader(reading: read)?.link(reading: read) != nil {
      linkedCount += 1
      if let other = states.randomElement(using: &generator), other != state {
        try write(other, to: copy)
        if try isRefused(copy) { mismatchCount += 1 }
      }
    }
    // A file into which a part of a log was copied does not count as a separate state.
    if log.isEmpty { states.append(state) }
    for suffix in ["", "-wal"] { unlink(copy + suffix) }
  }

  private func isRefused(_ path: String) throws -> Bool {
    do {
      try DatabaseFile(path: path).checkLog(fileSystem: nil)
      return false
    } catch DatabaseFile.Problem.staleLog {
      return true
    }
  }
}
