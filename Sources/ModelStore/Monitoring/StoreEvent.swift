/// Something that a store has done or met. A ``StoreMonitor`` receives it.
///
/// A later version may add cases, so handle unknown ones with `default`.
public enum StoreEvent: Sendable {
  /// A write asked for its turn. The number identifies it in the following events.
  case writeQueued(UInt64)
  /// The write with this number has its turn. For a write that shares a COMMIT, its part begins.
  case writeBegan(UInt64)
  /// A write ended, in one of four ways.
  case writeEnded(WriteReport)
  /// A read has its reader: a transaction, a fetch or a find. The number identifies it in
  /// ``readEnded(_:)``.
  case readBegan(UInt64)
  /// A read ended.
  case readEnded(ReadReport)
  /// The write-ahead log was copied into the database, as far as readers allow.
  case checkpoint(CheckpointReport)
  /// Another connection committed, and observers were notified.
  case foreignCommit(ForeignCommitReport)
  /// Observers were reset and refetched, because their changes are not known exactly. For example,
  /// another program changed the schema, or committed while the change journal was off.
  case resync
  /// An observation has 64 undelivered events, or 128, 256 and so on: its callback or loop is
  /// slower than the commits.
  case backlog(eventCount: Int)
  /// A batch of a ``Consumer`` was read or acknowledged, or its worker took or renewed the lease.
  case consumer(ConsumerReport)
  /// A worker gave up on the change at `position`, after `attemptCount` attempts. The file keeps it
  /// as a dead letter: ``Store/deadLetters(of:)``.
  case deadLetter(consumer: String, model: String, position: JournalPosition, attemptCount: Int)
  /// A statement took at least ``StoreMonitor/slowStatementDuration``.
  indirect case slowStatement(StatementReport)
  /// A failure that no caller receives. `onError` of the store receives it, too. Its code is
  /// `journalGap` if the change journal has a gap.
  indirect case failure(StoreError)
}

/// How a write ended, and where its time went.
public struct WriteReport: Sendable {
  /// How a write ended.
  // Its errors are behind a reference, so that a report of a committed write is small to copy.
  public enum Outcome: Sendable {
    /// COMMIT returned. Observers were notified.
    case committed
    /// A rule, a validator or a constraint refused it. Nothing was changed.
    indirect case refused(StoreError)
    /// Its body threw, its task was cancelled, or the store failed. Nothing was changed.
    case rolledBack(any Error)
    /// COMMIT failed half-way; see ``StoreError/Code/outcomeUnknown``.
    indirect case unknown(StoreError)
  }

  /// The times of a write, in its order.
  public struct Times: Sendable {
    /// From the call to its turn: it waits for earlier writes of this process.
    public var queue: Duration { .nanoseconds(self[.queue]) }
    /// BEGIN: it waits for other processes, and publishes what they committed.
    public var begin: Duration { .nanoseconds(self[.begin]) }
    /// The closure, with its statements and their triggers.
    public var body: Duration { .nanoseconds(self[.body]) }
    /// Computing the net changes, and the validators.
    public var validation: Duration { .nanoseconds(self[.validation]) }
    /// The commit record, and COMMIT with its sync. Writes that share a COMMIT have the same time.
    public var commit: Duration { .nanoseconds(self[.commit]) }
    /// Updating live results, and notifying observers.
    public var publishing: Duration { .nanoseconds(self[.publishing]) }
    /// From the call to its return, with the upkeep after the commit.
    public var total: Duration { .nanoseconds(totalNanoseconds) }

    /// The names of ``steps``.
    public static var stepNames: [String] { Step.allCases.map(\.rawValue) }

    /// The steps with their names, in their order.
    public var steps: [(name: String, duration: Duration)] {
      Step.allCases.map { ($0.rawValue, .nanoseconds(self[$0])) }
    }

    /// A step of a write.
    package enum Step: String, CaseIterable, Sendable {
      case queue, begin, body, validation, commit, publishing
    }

    // Nanoseconds, because a `Duration` has 128 bits: each operation on it is a call.
    private var queueTime: Int64 = 0
    private var beginTime: Int64 = 0
    private var bodyTime: Int64 = 0
    private var validationTime: Int64 = 0
    private var commitTime: Int64 = 0
    private var publishingTime: Int64 = 0
    package internal(set) var totalNanoseconds: Int64 = 0

    /// The nanoseconds of a step.
    package internal(set) subscript(step: Step) -> Int64 {
      get {
        switch step {
        case .queue: queueTime
        case .begin: beginTime
        case .body: bodyTime
        case .validation: validationTime
        case .commit: commitTime
        case .publishing: publishingTime
        }
      }
      set {
        switch step {
        case .queue: queueTime = newValue
        case .begin: beginTime = newValue
        case .body: bodyTime = newValue
        case .validation: validationTime = newValue
        case .commit: commitTime = newValue
        case .publishing: publishingTime = newValue
        }
      }
    }
  }

  /// The number of the write in its process and file, in the order of calls.
  public let number: UInt64
  /// How it ended.
  public let outcome: Outcome
  /// Where its time went. The steps that it did not reach are zero.
  public let times: Times
  /// The number of rows that it inserted, updated and deleted, also by triggers and in tables of
  /// the store itself. Zero if it was not committed.
  public let changedRowCount: Int
  /// The number of writes that shared its COMMIT, itself included; zero if it was not committed.
  public let sharingCount: Int
  /// Its id in the change journal; nil if nothing was recorded.
  public let transaction: TransactionID?
}

/// A read that ended.
public struct ReadReport: Sendable {
  /// The number of the read in its process and file.
  public let number: UInt64
  /// How long the read waited for a free reader.
  public let queue: Duration
  /// How long it read. A read keeps one state of the store, so this is also the age of that state
  /// at its end.
  public let duration: Duration
  /// Why it failed; nil if it succeeded.
  public let error: (any Error)?
}

/// A checkpoint of the write-ahead log.
public struct CheckpointReport: Sendable {
  /// The number of pages that the log had.
  public let pageCount: Int
  /// How long it took. Writes wait meanwhile.
  public let duration: Duration
}

/// Commits of other connections, found together.
public struct ForeignCommitReport: Sendable {
  /// The number of net changes of records that observers were notified of.
  public let changeCount: Int
  /// Whether all observers received exact changes. Otherwise some were reset and refetched, because
  /// the change journal does not have the changes.
  public let isExact: Bool
  /// How long it took to read the changes and to notify.
  public let duration: Duration
}

/// The progress of a ``Consumer``.
public struct ConsumerReport: Sendable {
  /// The name of the consumer.
  public let name: String
  /// The position that it has acknowledged.
  public let acknowledged: JournalPosition
  /// The number of positions between the acknowledged one and the end of the journal.
  public let lag: Int64
}

/// A statement that took long.
public struct StatementReport: Sendable {
  /// The text, without the values of its arguments.
  public let sql: String
  /// How long it took, up to its last row.
  public let duration: Duration
  /// SQLite's plan, one line for each step, such as `SCAN Track`. See
  /// <https://sqlite.org/eqp.html>. Empty if the plan could not be read.
  public let plan: [String]
}
