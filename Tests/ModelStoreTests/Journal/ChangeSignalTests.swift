import Dispatch
import Glibc
import Synchronization
import Testing

@testable import ModelStore

/// Listening for other processes by itself, beneath the store.
@Suite(.tags(.process)) struct ChangeSignalTests {
  /// A connection that detects what others commit to a file.
  private final class Listener: Sendable {
    let queue = DispatchQueue(label: "listener")
    let signal: ChangeSignal
    let heard = AwaitedEvents<Int64>()
    let failures = Recorder<String>()
    let isListening = Atomic(true)
    private let looking: Mutex<(connection: Connection, version: Int64)>

    init(_ path: String, means: ChangeSignal.Means) throws {
      let connection = try Connection(path: path, role: .reader, policy: .scratch())
      looking = Mutex((connection, try connection.dataVersion()))
      signal = ChangeSignal(path: path, queue: queue, means: means)
    }

    func listen(beforeLooking act: @escaping @Sendable () throws -> Void = {}) {
      signal.listen(
        while: { isListening.load(ordering: .relaxed) },
        look: { [weak self] in
          try act()
          return try self?.look() ?? ChangeSignal.Sight(hasForeignCommit: false, ownCommitCount: 0)
        }, report: { [failures] in failures.add("\($0)") })
    }

    private func look() throws -> ChangeSignal.Sight {
      try looking.withLock { state in
        let version = try state.connection.dataVersion()
        defer { state.version = version }
        if version != state.version { heard.add(version) }
        return ChangeSignal.Sight(hasForeignCommit: version != state.version, ownCommitCount: 0)
      }
    }
  }

  private static func file(_ directory: TemporaryDirectory) throws -> String {
    let path = try DatabaseFile(path: directory.file("signals.db")).path
    let connection = try Connection(path: path, role: .writer, policy: .scratch())
    try connection.enterWAL()
    try connection.execute("CREATE TABLE t(x)")
    return path
  }

  @Test(
    SQLiteShell.isNeeded, .timeLimit(.minutes(30)), arguments: [ChangeSignal.Means.best, .polling])
  func everyCommitOfAnotherProcessIsDetected(by means: ChangeSignal.Means) throws {
    let directory = try TemporaryDirectory()
    let path = try Self.file(directory)
    let listener = try Listener(path, means: means)
    listener.listen()
    #expect(watchCount(of: directory.path) == (means == .best ? 1 : 0))
    let shell = try SQLiteShell(path)
    for number in 0..<50 {
      try shell.run("INSERT INTO t VALUES (\(number))")
      try listener.heard.next()
    }
    // The log starts again in the same file, then in a truncated one.
    try shell.run("PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES (1)")
    try listener.heard.next()
    try shell.run("PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES (1)")
    try listener.heard.next()
    try shell.finish()
    listener.signal.end()
  }

  @Test(.timeLimit(.minutes(30))) func theSignalListensOnlyWhileItIsObserved() throws {
    let directory = try TemporaryDirectory()
    let listener = try Listener(try Self.file(directory), means: .best)
    #expect(watchCount(of: directory.path) == 0)
    for _ in 0..<3 {
      listener.isListening.store(true, ordering: .relaxed)
      listener.listen()
      listener.listen()
      #expect(watchCount(of: directory.path) == 1)
      listener.isListening.store(false, ordering: .relaxed)
      listener.listen()
      while watchCount(of: directory.path) > 0 { sched_yield() }
    }
    let count = listener.signal.lookCount.load(ordering: .relaxed)
    listener.queue.sync {}
    #expect(listener.signal.lookCount.load(ordering: .relaxed) == count)
    listener.isListening.store(true, ordering: .relaxed)
    listener.signal.end()
    listener.listen()
    #expect(watchCount(of: directory.path) == 0)
  }

  @Test(.timeLimit(.minutes(30))) func theCallbackIsReleasedWhenTheSignalStops() throws {
    final class Kept: Sendable {}
    let directory = try TemporaryDirectory()
    let listener = try Listener(try Self.file(directory), means: .best)
    weak var kept: Kept?
    do {
      let made = Kept()
      kept = made
      listener.listen { withExtendedLifetime(made) {} }
    }
    #expect(kept != nil)
    listener.signal.end()
    while kept != nil { sched_yield() }
  }

  @Test(.timeLimit(.minutes(30))) func aFailureIsReportedOnceUntilAPollSucceeds() throws {
    struct Failure: Error {}
    let directory = try TemporaryDirectory()
    let listener = try Listener(try Self.file(directory), means: .polling)
    let looks = Atomic(0)
    let looked = AwaitedEvents<Int>()
    listener.listen {
      let number = looks.add(1, ordering: .relaxed).newValue
      looked.add(number)
      if [2, 3, 4, 6].contains(number) { throw Failure() }
    }
    try looked.next { $0 == 8 }
    listener.signal.end()
    listener.queue.sync {}
    #expect(listener.failures.events == ["Failure()", "Failure()"])
  }
}
