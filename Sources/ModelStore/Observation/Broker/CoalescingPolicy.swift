/// How commits are combined when they arrive faster than a subscriber takes them, or while it is
/// paused.
///
/// With every policy, events come in commit order, and a subscriber that applies them all ends with
/// the current state. Coalesced events report the net change: the old value of the first and the
/// new value of the last. A change that was undone in between is omitted. Changes that touch more
/// than half of a large live result arrive as a reset.
public enum CoalescingPolicy: Hashable, Sendable {
  /// Delivers each commit as its own event. Waiting events use memory without a limit, so choose
  /// this only for a subscriber that must see each commit and is never behind for long.
  case every
  /// Keeps at most this number of waiting events, at least 1. Further commits are coalesced into
  /// the newest event.
  case bounded(Int)
  /// Coalesces everything since the last delivery into one event. Choose it for a view, which has
  /// to show the current state but not each step.
  case latest

  /// The default: ``bounded(_:)`` with 1024.
  public static let standard = bounded(1024)

  /// The most events that wait.
  var capacity: Int {
    switch self {
    case .every: .max
    case .bounded(let count): count
    case .latest: 1
    }
  }
}
