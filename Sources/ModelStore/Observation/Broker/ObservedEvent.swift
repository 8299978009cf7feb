/// The effect of a commit on one observed thing.
protocol ObservedEvent: Sendable {
  associatedtype Folding: EventFolding where Folding.Event == Self

  /// The latest commit that the event contains.
  var version: UInt64 { get }
}

/// Consecutive events that are being coalesced into one. It indexes what earlier events touched, so
/// adding an event does not search them.
protocol EventFolding: Sendable {
  associatedtype Event

  init(_ first: Event)

  /// Adds the event that follows.
  ///
  /// - Complexity: Linear in what `later` touches.
  mutating func add(_ later: Event)

  /// Whether the events cancel out, so that there is nothing to report.
  var isEmpty: Bool { get }

  /// The coalesced event.
  ///
  /// - Complexity: Linear in what the events touch.
  var event: Event { get }
}

extension ObservedEvent {
  /// Returns this event coalesced with the next one, or nil when they cancel out.
  func followed(by later: Self) -> Self? {
    var both = Folding(self)
    both.add(later)
    return both.isEmpty ? nil : both.event
  }
}
