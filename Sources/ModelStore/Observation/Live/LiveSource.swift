/// The source of a live query's rows and changes: a tree that is updated incrementally, a window on
/// such a tree, or a query that is re-executed.
protocol LiveSource: AnyObject, Sendable {
  /// The models whose changes can affect the rows.
  var models: [String] { get }

  /// How the rows are kept up to date.
  var plan: LivePlan { get }

  /// The rows as of the latest commit.
  var rows: LiveRows { get }

  /// The records of the shown rows, in order; nil if they are not kept.
  var images: [[SQLValue]]? { get }

  /// Whether it is a window that reads and keeps only its own rows.
  var keepsOnlyItsWindow: Bool { get }

  /// Shows another part of the result.
  ///
  /// - Precondition: Called on the committing thread, for a window.
  func move(to window: QueryWindow) throws -> ChangeBroker.Outcome

  /// Adds a subscriber for later changes.
  ///
  /// - Returns: A closure that removes the subscriber.
  func subscribe(_ subscriber: LiveSubscriber<QueryDelta>) -> @Sendable () -> Void

  /// Calls subscribers that have waiting events of commits up to `version`. Called on the delivery
  /// queue.
  func wake(upTo version: UInt64)
}

extension LiveSource {
  var images: [[SQLValue]]? { nil }

  var keepsOnlyItsWindow: Bool { false }

  func move(to window: QueryWindow) throws -> ChangeBroker.Outcome {
    preconditionFailure("A whole result has no window to move.")
  }
}

/// How a live query is kept up to date.
public enum LivePlan: Hashable, Sendable, CustomStringConvertible {
  /// Each changed record is moved to its place, which costs O(log n) whatever the result's size.
  ///
  /// A window of at most 4096 rows whose neighbours can be read from an index keeps its own records
  /// instead. A commit that concerns such a window costs O(log n) for each row that enters, and O(L
  /// log L) for the L rows in it.
  case incremental
  /// The query is re-executed after each commit that touches a table it reads, and both results are
  /// compared. This is exact too, but each such commit costs O(n) time. It needs O(n) memory,
  /// records included.
  case requery(reason: String)

  public var description: String {
    switch self {
    case .incremental: "incremental"
    case .requery(let reason): "re-executed after each commit that touches it, because \(reason)"
    }
  }
}
