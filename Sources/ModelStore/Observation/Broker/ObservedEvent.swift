/// What a commit did to one observed thing.
protocol ObservedEvent: Sendable {
  associatedtype Folding: EventFolding where Folding.Event == Self

  /// The latest commit that it tells of.
  var version: UInt64 { get }
}

/// Events that follow each other as they become one. It knows where each touched thing stands in
/// it, so what is there already need not be looked through for each event that comes.
protocol EventFolding: Sendable {
  associatedtype Event

  init(_ first: Event)

  /// Takes in the event that follows.
  ///
  /// - Complexity: Linear in what `later` touches.
  mutating func add(_ later: Event)

  /// Whether the events cancel out, so that there is nothing to tell.
  var isEmpty: Bool { get }

  /// All of them as one.
  ///
  /// - Complexity: Linear in what they touch.
  var event: Event { get }
}

extension ObservedEvent {
  /// This event and the one that follows it as one, or nil when they cancel out.
  func followed(by later: Self) -> Self? {
    var both = Folding(self)
    both.add(later)
    return both.isEmpty ? nil : both.event
  }
}
