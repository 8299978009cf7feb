/// The connections of this process to one file.
///
/// One of each per file, because a second set would fight the first for SQLite's locks, which
/// belong to the process:
/// <https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>.
final class Connections: Sendable {
  let writer: ConnectionQueue<Writer>
  let readers: ReaderPool
  /// Where the writer's thread reads how a row was before the running transaction, and what a query
  /// reads. It is apart from the pool, so that no reader keeps the writer waiting.
  let snapshots: ReaderPool
  /// Where results of live queries are read while others write. A reader here waits for the writer,
  /// so the writer never waits for this connection.
  let hydration: ReaderPool
  /// Where the delivery queue reads what a reset does not contain. A reader of the pool may wait
  /// for a delivery, so the delivery has a connection of its own.
  let delivery: ReaderPool
  /// Where it is read what the file contains for code that has no connection, such as to explain an
  /// error. Only such reading runs there, so everybody may wait for it.
  let facts: ReaderPool
  /// Whether the file has a write-ahead log; a rollback journal otherwise.
  let usesWriteAheadLog: Bool
  /// What opening changed in the file, for the store that opened it.
  let openingNotice: StoreError?
  /// Declared after the connections, so that it outlives them: it restores itself when they are
  /// closed.
  private let reserve: SpaceReserve

  init(file: DatabaseFile, configuration: StoreConfiguration) throws {
    let policy = configuration.connectionPolicy
    let path = file.path
    reserve = SpaceReserve(database: file.isInMemory ? nil : path)
    try file.checkLog(fileSystem: policy.fileSystem)
    let opening = FileOpening(file: file, configuration: configuration)
    let (connection, journal) = try opening.firstConnection(lending: reserve)
    let role: Connection.Role = connection.role == .writer ? .reader : connection.role
    let openReader: @Sendable () throws -> Connection = {
      try file.checkPresence()
      let connection = try Connection(path: path, role: role, policy: policy)
      // The name may have come to mean another file in between.
      try file.checkPresence()
      return connection
    }
    snapshots = ReaderPool(countMax: 1, open: openReader)
    hydration = ReaderPool(countMax: 1, open: openReader)
    delivery = ReaderPool(countMax: 1, open: openReader)
    facts = ReaderPool(countMax: 1, open: openReader)
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

  /// Closes every connection when what runs on it has ended.
  func close(_ closing: StoreLease.Closing) {
    // Inside a transaction there is no waiting: another thread may be closing too.
    let isWaiting = closing == .waiting && !writer.isCurrent && !readers.isCurrent
    writer.close(waiting: isWaiting)
    for pool in [readers, snapshots, hydration, delivery, facts] { pool.close(waiting: isWaiting) }
  }
}
