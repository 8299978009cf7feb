/// How much a change journal keeps. What goes beyond any of the limits is removed, the oldest
/// first, unless a consumer has not acknowledged it yet.
///
/// Without a limit everything is kept. Whole transactions go; the newest one always stays.
public struct JournalRetention: Hashable, Sendable {
  /// For how long a transaction is kept; nil for ever.
  ///
  /// Only transactions of stores have a time. Changes by other programs are as old as the next
  /// transaction of a store behind them, and are kept while there is none.
  ///
  /// Clocks can be wrong, so the order of commits decides together with the times: a time that is
  /// still to come does not count, a transaction is not younger than both of the next two, and none
  /// is older than one before it. For example, one transaction that is dated 2090 goes with its
  /// neighbours, and one that is dated 1970 takes no younger one along.
  public var age: Duration?
  /// The most entries, counted as rows of the journal: a record of many fields takes several, what
  /// a store says of its transaction takes one.
  public var maxEntryCount: Int?
  /// About how many bytes of the file the entries may take, estimated from some of them.
  public var maxByteCount: Int?
  /// Whether everything is kept that a consumer has not acknowledged. A consumer that nobody runs
  /// any more then keeps the journal from being trimmed; see ``Store/dropConsumer(_:)``. Without
  /// it, a consumer that was overtaken is told so: ``ConsumerBatch/reset``.
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

/// What trimming a change journal came to.
public struct JournalTrimming: Hashable, Sendable {
  /// How many entries went, counted as rows of the journal: one for each position, but for those
  /// that somebody had deleted by hand.
  public var removedCount: Int
  /// What is kept; nil when nothing has been entered yet.
  public var kept: ClosedRange<JournalPosition>?
  /// The consumer for whose sake more was kept than asked for; nil when there is none.
  public var heldBackBy: String?
}
