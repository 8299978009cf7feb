/// What can be told together with others by ``Store/observe(_:options:coalescing:body:)``: a
/// ``LiveQuery`` or a ``LiveList``.
public protocol _LiveMember<Changes>: Sendable {
  /// What a commit does to it.
  associatedtype Changes: Sendable

  /// How a group takes part in it. Not for use by programs.
  var _membership: _LiveMembership<Changes> { get }
}

/// How a group takes part in one live query or list.
public struct _LiveMembership<Changes: Sendable>: Sendable {
  /// The models whose changes can matter.
  let models: [String]
  let subscribe: @Sendable (LiveSubscriber<MemberDelta>) -> @Sendable () -> Void
  /// What it is now, as a first event.
  let initial: @Sendable (LiveStore.Reading) throws -> MemberDelta
  /// What a delta says to the caller; nil for nothing.
  let changes: @Sendable (MemberDelta?) throws -> Changes?
}

/// What happened to one member of a group.
enum MemberDelta: ObservedEvent {
  case query(QueryDelta)
  case list(ListDelta)

  var version: UInt64 {
    switch self {
    case .query(let delta): delta.version
    case .list(let delta): delta.version
    }
  }

  /// What the commit answered to.
  var wave: Wave {
    switch self {
    case .query(let delta): delta.wave
    case .list(let delta): delta.wave
    }
  }

  /// Whether no commit did it: a window was moved.
  var isWithoutCommit: Bool {
    if case .query(let delta) = self { delta.old.version == delta.new.version } else { false }
  }

  enum Folding: EventFolding {
    case query(QueryDelta.Folding)
    case list(ListDelta.Folding)

    init(_ first: MemberDelta) {
      switch first {
      case .query(let delta): self = .query(QueryDelta.Folding(delta))
      case .list(let delta): self = .list(ListDelta.Folding(delta))
      }
    }

    mutating func add(_ later: MemberDelta) {
      switch (self, later) {
      case (.query(var folding), .query(let delta)):
        // What is held must not be copied for each event that comes.
        self = .query(QueryDelta.Folding(delta))
        folding.add(delta)
        self = .query(folding)
      case (.list(var folding), .list(let delta)):
        self = .list(ListDelta.Folding(delta))
        folding.add(delta)
        self = .list(folding)
      default: preconditionFailure("A member of a group stays what it is.")
      }
    }

    var isEmpty: Bool {
      switch self {
      case .query(let folding): folding.isEmpty
      case .list(let folding): folding.isEmpty
      }
    }

    var event: MemberDelta {
      switch self {
      case .query(let folding): .query(folding.event)
      case .list(let folding): .list(folding.event)
      }
    }
  }
}
