#if Service
  import FaultLedger
  import Glibc
  import Logging
  import ModelStore
  import ModelStoreService
  import ServiceLifecycle
  import UnixSignals

  /// A service whose store is written by several tasks at once, while a worker notes each change in
  /// a file. The fault tests kill it, or shut it down by SIGTERM.
  ///
  /// Usage: `FaultService write|drain PATH EFFECTS`. With `write` it prints the number of each
  /// deposit once its commit has returned. With `drain` it ends when the worker has caught up.
  ///
  /// The worker always fails for deposits whose number is a multiple of 97.
  @main struct FaultService {
    static func main() async throws {
      let words = CommandLine.arguments
      guard words.count == 4, ["write", "drain"].contains(words[1]) else {
        throw Unusable(words: words)
      }
      // If the test ends without it.
      alarm(300)
      let store = try Ledger(at: words[2]).store
      let effects = try Effects(at: words[3])
      var options = StoreWorker.Options()
      options.start = .start
      options.batchSize = 50
      options.attemptCount = 2
      options.pause = .milliseconds(1)
      options.leaseDuration = .milliseconds(300)
      let worker = StoreWorker("effects", of: store, models: ["Deposit"], options: options) {
        try effects.note($0)
      }
      let load: any Service =
        words[1] == "write" ? Load(store: store) : Draining(store: store)
      // The load comes first, so it still runs while the worker ends and the store refuses writes.
      let group = ServiceGroup(
        configuration: .init(
          services: [
            .init(service: load, successTerminationBehavior: .gracefullyShutdownGroup),
            .init(service: StoreService(store, deadline: .seconds(60))),
            .init(service: worker),
          ], gracefulShutdownSignals: [.sigterm], logger: Logger(label: "fault")))
      try await group.run()
    }

    struct Unusable: Error {
      let words: [String]
    }
  }

  /// Several tasks that write until the store refuses.
  private struct Load: Service {
    private static let taskCount: Int64 = 4
    let store: Store

    func run() async throws {
      let newest = try await store.fetch(Deposit.all.order { $0.id.descending }.limit(1)).first
      let start = ((newest?.id ?? 0) / Self.taskCount + 1) * Self.taskCount
      try await withThrowingTaskGroup(of: Void.self) { group in
        for offset in 0..<Self.taskCount {
          group.addTask { try await write(from: start + offset) }
        }
        try await group.waitForAll()
      }
      // A service that ends before it is told to counts as failed, also during a shutdown.
      try await gracefulShutdown()
    }

    private func write(from start: Int64) async throws {
      var id = start
      do {
        while true {
          let deposit = Deposit(id: id)
          try await store.write { tx in _ = try tx.insert(deposit) }
          printLine("\(id)", to: 1)
          try await store.write { tx in try tx.set(\Deposit.amount, to: 9, for: deposit.id) }
          id += Self.taskCount
        }
      } catch let error as StoreError where error.code == .shuttingDown {
        return
      }
    }
  }

  /// Waits until the worker has caught up.
  private struct Draining: Service {
    let store: Store

    func run() async throws {
      let consumer = try await store.consumer("effects", startingAt: .start)
      while try await consumer.status().lag > 0 { await Task.yield() }
    }
  }

  /// The changes that the worker has processed, one in each line of a file.
  private struct Effects: Sendable {
    private let file: Int32

    init(at path: String) throws {
      file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
      guard file >= 0 else { throw FaultService.Unusable(words: [path]) }
    }

    struct Failure: Error {}

    func note(_ change: JournalChange) throws {
      guard case .integer(let id)? = change.key.first, id % 97 != 0 else { throw Failure() }
      printLine("\(change.operation.rawValue) \(id)", to: file)
    }
  }

  /// Writes a line in one call of the system, so that a kill leaves it whole or not at all.
  private func printLine(_ line: String, to file: Int32) {
    let line = line + "\n"
    guard line.withCString({ Glibc.write(file, $0, strlen($0)) }) == line.utf8.count else {
      exit(1)
    }
  }
#else
  import Glibc

  @main struct FaultService {
    static func main() {
      print("FaultService needs the package trait Service.")
      exit(2)
    }
  }
#endif
