/// The limits of a change journal. The store removes the oldest transactions beyond any of the
/// limits, except entries that a consumer has not acknowledged.
///
/// Without a limit, the journal keeps everything. Trimming removes whole transactions, and keeps
/// the newest transaction.
public struct JournalRetention: Hashable, Sendable {
  /// The longest time to keep a transaction; nil for no limit.
  ///
  /// Only transactions of stores have a time. Changes of other programs are as old as the next
  /// transaction of a store. They are kept until there is such a transaction.
  ///
  /// Clocks can be wrong, so the order of commits counts too. A time in the future is ignored. A
  /// transaction is at least as old as the younger of the next two transactions. It is never older
  /// than an earlier transaction. For example, a transaction with the date 2090 is removed together
  /// with its neighbours. A transaction with the date 1970 does not cause younger transactions to
  /// be removed.
  public var age: Duration?
  /// The most entries, counted as rows of the journal. A record with many fields takes several
  /// rows. The commit record of a transaction takes one.
  public var maxEntryCount: Int?
  /// The approximate number of bytes that entries may take in the file, estimated from a sample.
  public var maxByteCount: Int?
  /// Whether to keep everything that a consumer has not acknowledged.
  ///
  /// If it is true, an unused consumer prevents trimming; see ``Store/dropConsumer(_:)``. If it is
  /// false, a consumer may lose entries. Its next batch then says so in ``ConsumerBatch/reset``.
  public var respectsConsumers: Bool

  public init(
    age: Duration? = nil, maxEntryCount: Int? = nil, maxByteCount: Int? = nil,
    respectingConsumers: Bool = true
  ) {
    self.age = age
    self.maxEntryCount = maxEntryCount
    self.maxByteCount = maxByteCount
    respectsConsumers = respectingConsumers
  }
}

/// The result of trimming a change journal.
public struct JournalTrimming: Hashable, Sendable {
  /// The number of removed entries, counted as rows of the journal. This is one for each position,
  /// except for rows that were already deleted by hand.
  public var removedCount: Int
  /// The positions that are kept; nil if nothing has been recorded yet.
  public var kept: ClosedRange<JournalPosition>?
  /// The consumer that prevented more trimming; nil if there is none.
  public var heldBackBy: String?
}
