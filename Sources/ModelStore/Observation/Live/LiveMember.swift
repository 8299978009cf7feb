/// A live result that ``Store/observe(_:options:coalescing:body:)`` can observe together with
/// others: a ``LiveQuery`` or a ``LiveList``.
public protocol _LiveMember<Changes>: Sendable {
  /// The changes that a commit makes to it.
  associatedtype Changes: Sendable

  /// How a group observes it. Not for use by applications.
  var _membership: _LiveMembership<Changes> { get }
}

/// How a group observes one live query or list.
public struct _LiveMembership<Changes: Sendable>: Sendable {
  /// The models whose changes can affect it.
  let models: [String]
  let subscribe: @Sendable (LiveSubscriber<MemberDelta>) -> @Sendable () -> Void
  /// Its current state, as a first event.
  let initial: @Sendable (LiveStore.Reading) throws -> MemberDelta
  /// The changes that a delta reports to the caller; nil for none.
  let changes: @Sendable (MemberDelta?) throws -> Changes?
}

/// The changes of one member of a group.
enum MemberDelta: ObservedEvent {
  case query(QueryDelta)
  case list(ListDelta)

  var version: UInt64 {
    switch self {
    case .query(let delta): delta.version
    case .list(let delta): delta.version
    }
  }

  /// The cascade that the commit belongs to.
  var wave: Wave {
    switch self {
    case .query(let delta): delta.wave
    case .list(let delta): delta.wave
    }
  }

  /// Whether there was no commit: a window was moved.
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
        // Releases the stored value first, so that adding does not copy it.
        self = .query(QueryDelta.Folding(delta))
        folding.add(delta)
        self = .query(folding)
      case (.list(var folding), .list(let delta)):
        self = .list(ListDelta.Folding(delta))
        folding.add(delta)
        self = .list(folding)
      default: preconditionFailure("A member of a group keeps its kind.")
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
