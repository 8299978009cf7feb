/// What an observation tells besides each change. Old and new values are always told.
public struct ObservationOptions: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// First tell how it is now, in a call of its own on the delivery queue, with the phase
  /// ``ObservationPhase/initial``. Every later commit is told, and none that it already contains.
  ///
  /// Reads the record while writers wait. Inside a write the observation is refused with
  /// `misuse`, since how it is now is not settled.
  public static let initial = ObservationOptions(rawValue: 1)

  /// Tell each change in two calls, the first with the phase ``ObservationPhase/before``, the old
  /// value and no new one.
  ///
  /// Both come after COMMIT, one right after the other: before COMMIT nobody is told of a change
  /// that may yet be rolled back, so the store already has the new value in the first call. It is
  /// there to let go of what the old value meant.
  public static let prior = ObservationOptions(rawValue: 2)
}

/// When, with regard to a change, an observer is called.
public enum ObservationPhase: Hashable, Sendable {
  /// At the beginning, on request: nothing has changed. The new value is the present one; the
  /// origin is ``Origin/foreign``, since it is not known who set it.
  case initial
  /// Before the change is told, on request: only the old value is there.
  case before
  /// The change itself.
  case after
}
