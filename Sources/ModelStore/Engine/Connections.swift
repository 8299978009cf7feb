/// The connections of this process to one file.
///
/// There is one set per file. SQLite's file locks belong to the process, so a second set would
/// compete with the first for them:
/// <https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>.
final class Connections: Sendable {
  let writer: ConnectionQueue<Writer>
  let readers: ReaderPool
  /// Lets the writer's thread read the state before the running transaction, and the tables that a
  /// query reads. It is separate from `readers`, so that no reader blocks the writer.
  let snapshots: ReaderPool
  /// Reads the results of live queries while writes continue. A reader here waits for the writer,
  /// so the writer never waits for this connection.
  let hydration: ReaderPool
  /// Reads on the delivery queue what a resync event does not contain. A reader of the pool may
  /// wait for a delivery, so the delivery has its own connection.
  let delivery: ReaderPool
  /// Reads facts about the file for code that has no connection, for example to explain an error.
  /// It runs nothing else, so any thread may wait for it.
  let facts: ReaderPool
  /// Keeps one state for as long as a backup takes, so no other reader has to wait for it.
  let copies: ReaderPool
  /// Whether the file has a write-ahead log. Otherwise it has a rollback journal.
  let usesWriteAheadLog: Bool
  /// A change that opening made to the file, reported to the store that opened it.
  let openingNotice: StoreError?
  /// Declared after the connections, so that it outlives them. It restores the reserve when they
  /// are closed.
  private let reserve: SpaceReserve

  init(file: DatabaseFile, configuration: StoreConfiguration) throws {
    let policy = configuration.connectionPolicy
    let path = file.path
    reserve = SpaceReserve(database: file.isInMemory ? nil : path)
    try file.checkLog(fileSystem: policy.fileSystem)
    let opening = FileOpening(file: file, configuration: configuration)
    let (connection, journal) = try opening.firstConnection(lending: reserve)
    let role: Connection.Role = connection.role == .writer ? .reader : connection.role
    func opener(_ policy: Connection.Policy) -> @Sendable () throws -> Connection {
      {
        try file.checkPresence()
        let connection = try Connection(path: path, role: role, policy: policy)
        // Another file may have taken the name in between.
        try file.checkPresence()
        return connection
      }
    }
    let openReader = opener(policy)
    snapshots = ReaderPool(countMax: 1, open: openReader)
    hydration = ReaderPool(countMax: 1, open: openReader)
    delivery = ReaderPool(countMax: 1, open: openReader)
    copies = ReaderPool(countMax: 1, open: openReader)
    // With a rollback journal, the caller's own transaction may hold the lock it would wait for.
    var factsPolicy = policy
    if !journal.usesWriteAheadLog { factsPolicy.busyTimeout = .zero }
    facts = ReaderPool(countMax: 1, open: opener(factsPolicy))
    usesWriteAheadLog = journal.usesWriteAheadLog
    openingNotice = journal.notice
    writer = ConnectionQueue(
      try Writer(
        connection: connection, file: file, reserve: reserve, configuration: configuration,
        factsReader: facts),
      connection: connection, label: "modelstore.writer")
    readers = ReaderPool(
      countMax: configuration.maxReaderCount, first: configuration.readsOnWriter ? writer : nil,
      open: openReader)
    try file.checkPresence()
    try file.checkCompanions(for: configuration.access)
  }

  /// Closes every connection when the work on it has ended.
  func close(_ closing: StoreLease.Closing) {
    // Never waits inside a transaction: another thread may be closing too.
    let isWaiting = closing == .waiting && !writer.isCurrent && !readers.isCurrent
    writer.close(waiting: isWaiting)
    for pool in [readers, snapshots, hydration, delivery, facts, copies] {
      pool.close(waiting: isWaiting)
    }
  }
}
