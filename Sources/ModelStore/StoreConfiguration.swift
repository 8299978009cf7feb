/// The settings of a store, each with its unit, its default and the reason for it.
///
/// Two stores on one file in one process share one engine, so their settings must be equal. Only
/// `schemaChanges`, `schemaProgress`, `changeJournal`, `sharing`, and whether a writing store
/// creates the file may differ.
public struct StoreConfiguration: Hashable, Sendable {
  /// What the store may do with the file.
  public enum Access: Hashable, Sendable {
    /// Read and write; create the file when it does not exist, readable by its owner only.
    case readWriteCreate
    /// Read and write an existing file.
    case readWrite
    /// Read an existing file. Nothing of it changes, and no write can begin.
    case readOnly
  }

  /// How safe a committed transaction is against a power cut. A crash of the process loses nothing
  /// either way.
  public enum Durability: String, Hashable, Sendable {
    /// Every commit is on the disk before it returns (`synchronous=FULL`). The default.
    case full
    /// A power cut may lose the latest commits, but never damages the file (`synchronous=NORMAL`).
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

  /// Which users share the file. A store refuses a log that any other user may have created, and a
  /// directory in which any other user may replace the file. Each of the sharing users accepts what
  /// the others write.
  public var sharing: Sharing
  /// Whether the store may write, and whether it creates a missing file.
  public var access: Access
  /// What happens to a committed write at a power cut.
  public var durability: Durability
  /// How long a write waits for another process's write before it fails with
  /// ``StoreError/Code/busy``.
  public var busyTimeout: Duration
  /// The maximum number of read transactions that run at once, at least 1. Further ones wait.
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
  /// model, field and key, without allocating memory for it.
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
    /// Changes the file permanently to a write-ahead log, so that readers and the writer do not
    /// wait for each other. When the file holds tables of another program and no catalog of a store
    /// yet, the store reports this to `onError` with code `configurationConflict`. Other programs
    /// only need SQLite 3.7.0 or later and the right to create files in the directory.
    case writeAheadLog
    /// Leaves the file as it is. With a rollback journal everything is as safe. But readers and
    /// writers wait for each other, up to ``StoreConfiguration/busyTimeout``, and fail with
    /// ``StoreError/Code/busy``. Observers are notified of other processes' commits up to a second
    /// late. For tools that write once and close the store.
    case asFound
  }

  /// How much the store reports about a write that rules refuse.
  public var refusals: Refusals

  /// How much a store reports about a write that rules refuse.
  public struct Refusals: Hashable, Sendable {
    /// Whether validators stop at the first broken rule. By default all of them run, so that a form
    /// can show every violation at once.
    public var stopsAtFirst: Bool
    /// The maximum number of violations that one error lists, at least 1. All are counted.
    public var maxViolationCount: Int
    /// Whether violations contain the values that break a rule. By default they do not, because
    /// errors are often logged, and values may be private.
    public var includesValues: Bool
    /// The maximum number of row changes held in memory to find further violations of a refused
    /// statement. For a larger statement, only the first violation is reported.
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

  /// What opening may change to bring the file in line with the models. Opening never renames
  /// anything and never removes values: write a migration for that.
  public var schemaChanges: SchemaChanges

  /// What opening a store may add to its file.
  public enum SchemaChanges: Hashable, Sendable {
    /// Create tables that do not exist. Any other difference is an error that lists all
    /// differences. Declared bindings and rules in Swift are added to the file under any setting.
    case createTables
    /// Also add missing columns and indexes. No data is lost.
    case additive
    /// Also apply a ``MigrationPlan`` that ``MigrationPlan/isSafe``: for example, add a new rule,
    /// unique set or reference that all records meet. Any other plan is an error that carries it:
    /// ``StoreError/migrationPlan``. Opening may then copy tables, and waits for other processes
    /// up to the busy timeout. See ``StoreConfiguration/schemaProgress``.
    case migrate
    /// Change nothing; any difference is an error.
    case none
  }

  /// Receives how far opening has changed the file, and can stop it. By default there is none.
  public var schemaProgress: SchemaProgress?

  /// Whether the file's change journal records the changes of the declared models, and in how much
  /// detail. By default each model keeps the setting of the file, which is off at first. With the
  /// journal an insertion takes about 2.5 times as long, so turn it on only if you need history or
  /// exact changes of other processes. See ``ChangeJournal``.
  public var changeJournal: JournalDetail?

  /// How much the change journal keeps. By default it keeps everything, and your program decides
  /// what to delete. Old entries are removed in small steps after commits of this store, about one
  /// step for every 500 entries. See also ``ChangeJournal/trim(_:mode:)``.
  public var journalRetention: JournalRetention?

  /// Functions in Swift that bindings may call; see ``FieldBinding/calling(_:)``. By default there
  /// are none. Other programs cannot write records whose binding calls such a function.
  public var functions: Set<SQLFunction>

  /// The ledger of a shared store, of which this file is a member; nil by default. The first member
  /// founds the store. A member without a file begins from the ledger's snapshot.
  public var ledger: SharedLedger?

  /// The name of the SQLite VFS to open through; tests inject faults with it.
  package var fileSystem: String?

  /// Whether reads use the writer's connection while it is idle. For programs that end after one
  /// task, because each further connection reads the whole schema. Do not observe anything in this
  /// mode, because a read would delay the changes of other programs.
  package var readsOnWriter = false

  /// Set by a signal handler when the program wants its statements to end.
  package var stopRequest: StopRequest?

  /// Creates a configuration. Pass only what differs from the defaults, which suit a
  /// typical service: read, write, create the file, and survive a loss of power.
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
    schemaChanges: SchemaChanges = .createTables, schemaProgress: SchemaProgress? = nil,
    changeJournal: JournalDetail? = nil, journalRetention: JournalRetention? = nil,
    functions: Set<SQLFunction> = [], ledger: SharedLedger? = nil
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
    self.schemaProgress = schemaProgress
    self.changeJournal = changeJournal
    self.journalRetention = journalRetention
    self.functions = functions
    self.ledger = ledger
  }

  /// Whether two stores on one file may share an engine. Each store has its own settings for schema
  /// changes on opening and for checking the file's location.
  func isCompatible(with other: StoreConfiguration) -> Bool {
    var mine = self
    mine.schemaChanges = other.schemaChanges
    mine.schemaProgress = other.schemaProgress
    mine.changeJournal = other.changeJournal
    mine.sharing = other.sharing
    mine.readsOnWriter = other.readsOnWriter
    if mine.access != .readOnly, other.access != .readOnly { mine.access = other.access }
    return mine == other
  }

  /// Describes the settings that keep stores with `self` and `other` from sharing an engine: what
  /// is set here, and what the other store wants.
  func difference(from other: StoreConfiguration) -> (present: String, wanted: String) {
    var present: [String] = []
    var wanted: [String] = []
    func compare<Value: Equatable>(
      _ name: String, _ setting: KeyPath<StoreConfiguration, Value>
    ) {
      guard self[keyPath: setting] != other[keyPath: setting] else { return }
      present.append("\(name) \(self[keyPath: setting])")
      wanted.append("\(other[keyPath: setting])")
    }
    if access == .readOnly || other.access == .readOnly { compare("access", \.access) }
    compare("durability", \.durability)
    compare("busyTimeout", \.busyTimeout)
    compare("maxReaderCount", \.maxReaderCount)
    compare("cacheSize", \.cacheSize)
    compare("checkpointFrameCount", \.checkpointFrameCount)
    compare("statementCacheCapacity", \.statementCacheCapacity)
    compare("maxValueSize", \.maxValueSize)
    compare("journalMode", \.journalMode)
    compare("ledger", \.ledger?.description)
    // The other settings have no short text.
    if present.isEmpty {
      let name =
        refusals != other.refusals
        ? "refusals"
        : journalRetention != other.journalRetention
          ? "journalRetention" : functions != other.functions ? "functions" : "settings"
      return ("other \(name)", "its own")
    }
    return (present.joined(separator: ", "), wanted.joined(separator: ", "))
  }

  var connectionPolicy: Connection.Policy {
    Connection.Policy(
      durability: durability, busyTimeout: busyTimeout, cacheSize: cacheSize,
      statementCacheCapacity: statementCacheCapacity, maxValueSize: maxValueSize,
      fileSystem: fileSystem,
      functions: ledger == nil ? functions : functions.union([.memberOnly]),
      stopRequest: stopRequest)
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
