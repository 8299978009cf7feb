/// Every knob of a store, with its unit, its default and the reason for it.
///
/// Two stores on one file in one process share one engine, so they must ask for the same; only
/// `schemaChanges`, `changeJournal`, `sharing` and whether a writing store makes the file may
/// differ.
public struct StoreConfiguration: Hashable, Sendable {
  /// What the store may do with the file.
  public enum Access: Hashable, Sendable {
    /// Read and write; create the file when it does not exist, readable by its owner only.
    case readWriteCreate
    /// Read and write an existing file.
    case readWrite
    /// Read an existing file. Nothing of it changes, and no write can be begun.
    case readOnly
  }

  /// What a returned commit promises against a power cut. A crash of the process loses nothing
  /// either way.
  public enum Durability: String, Hashable, Sendable {
    /// Every commit is on the disk before it returns (`synchronous=FULL`). The default.
    case full
    /// A power cut may lose the latest commits, never damage the file (`synchronous=NORMAL`).
    /// Several times faster for small transactions.
    case normal

    var pragma: String { self == .full ? "FULL" : "NORMAL" }
  }

  /// Which users may create files beside the database and write them.
  public enum Sharing: String, Hashable, Sendable, CaseIterable {
    /// The owner of the file, root and the current user. The default.
    case owner
    /// Also the members of the file's group, in a directory of that group. For example, a database
    /// with mode `0660` in a directory with mode `2770`.
    case group
  }

  /// Which users share the file. A store refuses a log that any other user may have made, and a
  /// directory in which any other user may replace the file. What one of the sharing users writes,
  /// all others accept.
  public var sharing: Sharing
  /// Whether the store may write, and whether it makes a file that is not there.
  public var access: Access
  /// What an acknowledged write survives.
  public var durability: Durability
  /// How long a write waits for another process's write before it fails with
  /// ``StoreError/Code/busy``.
  public var busyTimeout: Duration
  /// The most read transactions running at once; a further one waits. At least 1.
  public var maxReaderCount: Int
  /// Page cache of each connection, in bytes. SQLite's own 2 MB makes random updates 2–3 times
  /// slower.
  public var cacheSize: Int
  /// WAL frames (pages) after which the next commit copies them into the database.
  public var checkpointFrameCount: Int
  /// Idle prepared statements kept for reuse by each connection.
  public var statementCacheCapacity: Int
  /// The largest text, blob or row that is read or written, in bytes. The default, 1,000,000,000,
  /// is SQLite's own limit. Reading a larger value throws ``StoreError/Code/invalidValue`` with its
  /// model, field and key, and takes no memory for it.
  ///
  /// For example, a program that copies each value once or twice and may use 500 MB sets
  /// 100,000,000.
  public var maxValueSize: Int
  /// What a writing store does with a file that has a rollback journal instead of a write-ahead
  /// log. By default it changes the file.
  public var journalMode: JournalMode

  /// What a writing store does with a file that has a rollback journal. An empty file always gets a
  /// write-ahead log, and reading never changes the file.
  public enum JournalMode: Hashable, Sendable {
    /// Changes the file to a write-ahead log, for good: readers and the writer then do not wait for
    /// each other. When the file holds tables of another program and no catalog of a store yet, the
    /// store reports this to `onError` with code `configurationConflict`. Other programs need
    /// nothing but an SQLite since version 3.7.0 and the right to make files in the directory.
    case writeAheadLog
    /// Leaves the file as it is. With a rollback journal everything is as safe, but readers and
    /// writers wait for each other, up to ``StoreConfiguration/busyTimeout``, and fail with
    /// ``StoreError/Code/busy``; and observers are notified of other processes' commits up to a
    /// second late. For tools that write once and close the store.
    case asFound
  }

  /// How much is told of a write that rules refuse.
  public var refusals: Refusals

  /// How much is told of a write that rules refuse.
  public struct Refusals: Hashable, Sendable {
    /// Whether validators stop at the first rule that is broken. By default all of them judge, so
    /// that a form can show everything at once.
    public var stopsAtFirst: Bool
    /// The most violations that one error lists; at least 1. All are counted.
    public var maxViolationCount: Int
    /// Whether violations carry the values that break a rule. By default they do not: an error is
    /// often logged, and values may be nobody's business there.
    public var includesValues: Bool
    /// The most changes of rows that are held in memory to tell what else is wrong with a statement
    /// that was refused; of a larger one only the first refusal is told.
    package var heldChangeCountMax = 100_000

    /// Creates settings; pass only what differs from the defaults.
    public init(
      stopsAtFirst: Bool = false, maxViolationCount: Int = 100, includesValues: Bool = false
    ) {
      self.stopsAtFirst = stopsAtFirst
      self.maxViolationCount = maxViolationCount
      self.includesValues = includesValues
    }
  }

  /// Whether missing tables and columns are added when the store opens. Renames, removals and
  /// changes of type are never made by opening: they take a migration.
  public var schemaChanges: SchemaChanges

  /// What opening a store may add to its file.
  public enum SchemaChanges: Hashable, Sendable {
    /// Create tables that do not exist. Any other difference is an error that lists them all.
    /// Declared bindings and rules in Swift are entered in the file under any setting.
    case createTables
    /// Also add columns and indexes that are missing: changes that lose nothing.
    case additive
    /// Change nothing; any difference is an error.
    case none
  }

  /// Whether the changes of the declared models are entered in the file's change journal, and how
  /// much of them. By default each model is as the file says, at first without: an insertion then
  /// costs about three times as much, which only who needs history or other processes should pay.
  /// See ``ChangeJournal``.
  public var changeJournal: JournalDetail?

  /// How much the change journal keeps. By default everything: what to forget is for the program to
  /// say. Removed in small steps after commits of this store, about one for every 500 entries; see
  /// also ``ChangeJournal/trim(_:mode:)``.
  public var journalRetention: JournalRetention?

  /// Functions in Swift that bindings may call; see ``FieldBinding/calling(_:)``. By default there
  /// are none: what calls one can be written by no other program.
  public var functions: Set<SQLFunction>

  /// The name of the SQLite VFS to open through; tests inject faults with it.
  package var fileSystem: String?

  /// Whether reads use the writer's connection while nothing else does. For programs that end after
  /// one task: each further connection reads the whole schema. Nothing may be observed meanwhile,
  /// because a read would keep the changes of others waiting.
  package var readsOnWriter = false

  /// Whether the program wants its statements to end; a signal handler sets it.
  package var stopRequest: StopRequest?

  /// Creates a configuration. Pass only what differs from the defaults, which are what a service
  /// wants: read, write, make the file, and survive a loss of power.
  ///
  /// ```swift
  /// let configuration = StoreConfiguration(durability: .normal, busyTimeout: .seconds(1))
  /// ```
  ///
  /// Each parameter is described at the property of its name.
  public init(
    sharing: Sharing = .owner, access: Access = .readWriteCreate, durability: Durability = .full,
    busyTimeout: Duration = .seconds(5), maxReaderCount: Int = 4,
    cacheSize: Int = 16 * 1024 * 1024, checkpointFrameCount: Int = 1000,
    statementCacheCapacity: Int = 128, maxValueSize: Int = 1_000_000_000,
    journalMode: JournalMode = .writeAheadLog, refusals: Refusals = Refusals(),
    schemaChanges: SchemaChanges = .createTables, changeJournal: JournalDetail? = nil,
    journalRetention: JournalRetention? = nil, functions: Set<SQLFunction> = []
  ) {
    self.sharing = sharing
    self.access = access
    self.durability = durability
    self.busyTimeout = busyTimeout
    self.maxReaderCount = maxReaderCount
    self.cacheSize = cacheSize
    self.checkpointFrameCount = checkpointFrameCount
    self.statementCacheCapacity = statementCacheCapacity
    self.maxValueSize = maxValueSize
    self.journalMode = journalMode
    self.refusals = refusals
    self.schemaChanges = schemaChanges
    self.changeJournal = changeJournal
    self.journalRetention = journalRetention
    self.functions = functions
  }

  /// Whether two stores on one file may share an engine. What opening adds to the file and how its
  /// place is checked is each one's own.
  func isCompatible(with other: StoreConfiguration) -> Bool {
    var mine = self
    mine.schemaChanges = other.schemaChanges
    mine.changeJournal = other.changeJournal
    mine.sharing = other.sharing
    mine.readsOnWriter = other.readsOnWriter
    if mine.access != .readOnly, other.access != .readOnly { mine.access = other.access }
    return mine == other
  }

  var connectionPolicy: Connection.Policy {
    Connection.Policy(
      durability: durability, busyTimeout: busyTimeout, cacheSize: cacheSize,
      statementCacheCapacity: statementCacheCapacity, maxValueSize: maxValueSize,
      fileSystem: fileSystem, functions: functions, stopRequest: stopRequest)
  }
}

extension StoreConfiguration {
  /// - Throws: ``StoreError`` with code `readOnly` when the store may only be read.
  func checkWritable() throws(StoreError) {
    guard access != .readOnly else {
      throw StoreError(.readOnly, "The store was opened read-only.")
    }
  }
}
