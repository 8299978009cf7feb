/// Where a live query's rows come from and who tells what happens to them: a tree that follows
/// changes, a window on one, or a query that is run again.
protocol LiveSource: AnyObject, Sendable {
  /// The models whose changes can matter.
  var models: [String] { get }

  /// How the rows are kept.
  var plan: LivePlan { get }

  /// The rows as of the latest commit.
  var rows: LiveRows { get }

  /// The records of the rows shown, in order; nil where they are not kept.
  var images: [[SQLValue]]? { get }

  /// Shows another part of the result.
  ///
  /// - Precondition: On the committing thread; it is a window.
  func move(to window: QueryWindow) throws -> ChangeBroker.Outcome

  /// Takes up a subscriber for what happens from now on.
  ///
  /// - Returns: What ends it.
  func subscribe(_ subscriber: LiveSubscriber<QueryDelta>) -> @Sendable () -> Void

  /// Calls whoever has something to take, of commits up to `version`; on the delivery queue.
  func wake(upTo version: UInt64)
}

extension LiveSource {
  var images: [[SQLValue]]? { nil }

  func move(to window: QueryWindow) throws -> ChangeBroker.Outcome {
    preconditionFailure("A whole result has no window to move.")
  }
}

/// How a live query is kept true.
public enum LivePlan: Hashable, Sendable, CustomStringConvertible {
  /// Each changed record is put in its place: O(log n) for each, whatever the result's size. A
  /// window of at most 4096 rows whose neighbours an index gives keeps its own records instead, and
  /// a commit that concerns it costs O(log n) for the rows that come in and O(L log L) for L rows
  /// in it.
  case incremental
  /// The query is run again after each commit that touches a table it reads, and both results are
  /// compared: exact too, but O(n) time for each such commit and O(n) memory, records included.
  case requery(reason: String)

  public var description: String {
    switch self {
    case .incremental: "incremental"
    case .requery(let reason): "run again after each commit that touches it, because \(reason)"
    }
  }
}
