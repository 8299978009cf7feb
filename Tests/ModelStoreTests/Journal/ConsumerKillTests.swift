import Foundation
import Glibc
import Testing

@testable import ModelStore

/// Writers and consumers that are killed at any moment: what was committed is there, and a consumer
/// is given every change, exactly once where its work and its cursor are one transaction.
@Suite(.tags(.law), .ownThreads) struct ConsumerKillTests {
  /// How many rounds of kills: `MODELSTORE_KILL_ROUNDS`, or enough for every day.
  private static var roundCount: Int {
    ProcessInfo.processInfo.environment["MODELSTORE_KILL_ROUNDS"].flatMap { Int($0) } ?? 30
  }

  @Test func killedConsumersSeeEveryChangeOnce() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("kills of consumers: seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let world = try KillWorld()
    for round in 0..<Self.roundCount {
      let pauses = (0..<3).map { _ in Int.random(in: 1_000...30_000, using: &generator) }
      let writes = Int.random(in: 0...3, using: &generator)
      async let writer: Void = world.write(round: round, writes: writes, killedAfter: pauses[0])
      async let exact: Void = world.consumeExactly(killedAfter: pauses[1])
      async let plain: Void = world.consume(killedAfter: pauses[2])
      _ = await (writer, exact, plain)
      let findings = try world.findings()
      #expect(findings == [], "round \(round), seed \(seed)")
      if !findings.isEmpty { return }
    }
    let counts = try world.drain()
    print("kills of consumers: \(Self.roundCount) rounds, \(counts)")
    #expect(try world.findings() == [])
    #expect(counts.changes > 0 && counts.missing == 0)
  }

  @Test func aCursorThatIsSavedBeforeTheWorkIsFound() async throws {
    let world = try KillWorld()
    await world.write(round: 0, writes: 1, killedAfter: 30_000)
    #expect(try world.findings() == [])
    await world.consumeWrongly()
    let findings = try world.findings()
    #expect(findings.contains { $0.hasPrefix("missed by plain") }, "\(findings)")
  }

  @Test func aChangeThatIsReportedBeforeItsCommitIsFound() async throws {
    let world = try KillWorld()
    await world.write(round: 0, writes: 1, killedAfter: 30_000)
    #expect(try world.findings() == [])
    await world.acknowledgeTooEarly()
    let findings = try world.findings()
    #expect(findings.contains { $0.hasPrefix("lost") }, "\(findings)")
    #expect(findings.contains { $0.hasPrefix("never committed") }, "\(findings)")
  }
}

/// A file that processes write to and consume until they are killed.
private struct KillWorld: Sendable {
  let directory: TemporaryDirectory
  let path: String
  /// The commits acknowledged to the writer, one id in each line.
  let acknowledged: String
  /// What the plain consumer has worked in, one position in each line.
  let worked: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("killed.store")
    acknowledged = directory.file("acknowledged")
    worked = directory.file("worked")
    for file in [acknowledged, worked] { try Data().write(to: URL(filePath: file)) }
    let store = try Self.open(path)
    try store.write { tx in try tx.execute("CREATE TABLE Seen (position INTEGER NOT NULL)") }
    _ = try store.consumer("exact", startingAt: .start)
    _ = try store.consumer("plain", startingAt: .start)
    store.close()
  }

  static func open(_ path: String) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.checkpointFrameCount = 10
    configuration.busyTimeout = .seconds(60)
    configuration.changeJournal = .full
    return try Store(at: path, models: Artist.self, configuration: configuration)
  }

  /// Ends this process as a power cut would, after `microseconds`.
  static func die(after microseconds: Int) {
    DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(microseconds)) {
      kill(getpid(), SIGKILL)
    }
  }

  /// Adds a line to a file in one call of the system.
  static func append(_ lines: [Int64], to file: Int32) {
    let text = lines.map { "\($0)\n" }.joined()
    _ = text.withCString { Glibc.write(file, $0, strlen($0)) }
  }

  /// Writes without end, and dies `microseconds` after `writes` acknowledged writes.
  func write(round: Int, writes: Int, killedAfter microseconds: Int) async {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [
        path = path as String, acknowledged = acknowledged as String, round = round as Int,
        writes = writes as Int, microseconds = microseconds as Int
      ] in
      let store = try KillWorld.open(path)
      let ledger = Glibc.open(acknowledged, O_WRONLY | O_APPEND)
      for number in 0..<1_000_000 {
        if number == writes { KillWorld.die(after: microseconds) }
        let id = Int64(round * 1_000_000 + number)
        try store.write { tx in
          try tx.insert(Artist(id: id, name: "first"))
          try tx.insert(Artist(id: -id - 1, name: "second"))
        }
        KillWorld.append([id], to: ledger)
      }
    }
  }

  func consumeExactly(killedAfter microseconds: Int) async {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, microseconds = microseconds as Int] in
      let store = try KillWorld.open(path)
      let consumer = try store.consumer("exact")
      KillWorld.die(after: microseconds)
      while true { try KillWorld.workExactly(consumer, in: store) }
    }
  }

  static func workExactly(_ consumer: Consumer, in store: Store) throws {
    guard let batch = try consumer.next(limit: 20) else { return }
    try store.write { tx in
      for change in batch.changes {
        try tx.execute("INSERT INTO Seen VALUES (\(change.position.rawValue))")
      }
      try tx.acknowledge(batch)
    }
  }

  func consume(killedAfter microseconds: Int) async {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [
        path = path as String, worked = worked as String, microseconds = microseconds as Int
      ] in
      let consumer = try KillWorld.open(path).consumer("plain")
      let file = Glibc.open(worked, O_WRONLY | O_APPEND)
      KillWorld.die(after: microseconds)
      while true { try KillWorld.work(consumer, to: file) }
    }
  }

  static func work(_ consumer: Consumer, to file: Int32) throws {
    guard let batch = try consumer.next(limit: 20) else { return }
    append(batch.changes.map(\.position.rawValue), to: file)
    try batch.acknowledge()
  }

  /// The planted bug: it acknowledges, and dies before it has worked.
  func consumeWrongly() async {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let consumer = try KillWorld.open(path).consumer("plain")
      while true {
        guard let batch = try consumer.next(limit: 20) else { continue }
        try batch.acknowledge()
        kill(getpid(), SIGKILL)
      }
    }
  }

  /// The planted bug: the write is acknowledged to its caller and reported to a consumer, and the
  /// process dies before the commit.
  func acknowledgeTooEarly() async {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [
        path = path as String, acknowledged = acknowledged as String, worked = worked as String
      ] in
      let store = try KillWorld.open(path)
      let next = try store.changeJournal.position().rawValue + 1
      try store.write { tx in
        try tx.insert(Artist(id: 999_999_999, name: "early"))
        KillWorld.append([999_999_999], to: Glibc.open(acknowledged, O_WRONLY | O_APPEND))
        KillWorld.append([next], to: Glibc.open(worked, O_WRONLY | O_APPEND))
        kill(getpid(), SIGKILL)
      }
    }
  }

  private func numbers(in file: String) throws -> [Int64] {
    try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
      .compactMap { Int64($0) }
  }

  /// What is wrong, in sentences.
  func findings() throws -> [String] {
    let store = try Self.open(path)
    defer { store.close() }
    let database = try PlainDatabase(path)
    func numbers(_ sql: String) throws -> [Int64] {
      try database.rows(sql).compactMap { row in
        if case .integer(let number) = row[0] { number } else { nil }
      }
    }
    var findings = try store.checkIntegrity()
    let told = try self.numbers(in: acknowledged)
    let found = Set(try numbers("SELECT id FROM Artist"))
    let lost = told.filter { !found.contains($0) || !found.contains(-$0 - 1) }
    if !lost.isEmpty { findings.append("lost: \(lost)") }
    let halves = found.filter { !found.contains(-$0 - 1) }
    if !halves.isEmpty { findings.append("half: \(halves)") }

    let changes = try numbers("SELECT position FROM _ms_journal WHERE layout <> 0")
    if changes.count != found.count {
      findings.append("\(changes.count) of \(found.count) entered")
    }
    let seen = try numbers("SELECT position FROM Seen")
    let exactPosition = position("exact", store)
    let exact = changes.filter { $0 <= exactPosition }
    if seen.sorted() != exact { findings.append("exact saw \(seen.count) of \(exact.count)") }
    let worked = Set(try self.numbers(in: worked))
    let plainPosition = position("plain", store)
    let missed = changes.filter { $0 <= plainPosition && !worked.contains($0) }
    if !missed.isEmpty { findings.append("missed by plain: \(missed)") }
    let invented = worked.subtracting(changes)
    if !invented.isEmpty { findings.append("never committed: \(invented)") }
    return findings
  }

  private func position(_ consumer: String, _ store: Store) -> Int64 {
    do {
      return try store.consumer(consumer).status().position.rawValue
    } catch {
      Issue.record(error)
      return 0
    }
  }

  /// Lets both consumers reach the end.
  func drain() throws -> (changes: Int, repeated: Int, missing: Int) {
    let store = try Self.open(path)
    defer { store.close() }
    let exact = try store.consumer("exact")
    while try exact.next() != nil { try Self.workExactly(exact, in: store) }
    let plain = try store.consumer("plain")
    let file = Glibc.open(worked, O_WRONLY | O_APPEND)
    defer { Glibc.close(file) }
    while try plain.next() != nil { try Self.work(plain, to: file) }
    let changes = try PlainDatabase(path).rows("SELECT 1 FROM _ms_journal WHERE layout <> 0").count
    let worked = try numbers(in: worked)
    return (changes, worked.count - Set(worked).count, changes - Set(worked).count)
  }
}
