/// What becomes of commits that come faster than a subscriber takes them, or while it is paused.
///
/// Whatever is chosen, events come in commit order, and one who applies them all ends with the
/// present state. Two events told as one say exactly what both did together: the old value is that
/// of the first, the new value that of the second, and what was undone in between is not told. What
/// touched more than half of a large live result is told as a reset.
public enum CoalescingPolicy: Hashable, Sendable {
  /// Each commit is an event of its own, however many wait. Memory grows with what waits, without
  /// a limit: for a subscriber that must see each commit and is never behind for long.
  case every
  /// At most that many events wait, at least 1; further commits are folded into the newest.
  case bounded(Int)
  /// All that happened since the subscriber last looked comes as one event: for a view, which
  /// needs to be right and not to show each step.
  case latest

  /// Where nothing else is asked for: ``bounded(_:)`` with 1024.
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
