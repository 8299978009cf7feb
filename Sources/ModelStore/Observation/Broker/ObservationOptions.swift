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

  /// A write returns only after the callback has been called: what it changes is there when the
  /// writer goes on. The call still comes after COMMIT, on the delivery queue and in its turn, so
  /// the write waits for the callbacks before it, too. A write that a callback makes does not wait;
  /// nor does one of another process.
  ///
  /// The callback must not wait for anything that the writing thread holds, a transaction of
  /// another store for one. A loop takes events in its own time and cannot be waited for.
  public static let synchronous = ObservationOptions(rawValue: 4)
}

extension ObservationOptions {
  /// What takes the events.
  enum Taker { case callback, loop }

  /// - Throws: ``StoreError`` with code `misuse` for what cannot be honoured.
  func check(
    allowing allowed: ObservationOptions, by taker: Taker, of model: String
  ) throws(StoreError) {
    if contains(.synchronous), taker == .loop {
      throw StoreError(
        .misuse, "A write cannot wait for a loop, which takes changes in its own time.",
        model: model)
    }
    guard subtracting([.synchronous]).isSubset(of: allowed) else {
      throw StoreError(
        .misuse,
        allowed.isEmpty
          ? "All records of \(model) have no single value to tell at the beginning or before a change; take a live query."
          : "A result of \(model) is not told before a change; each event has its old rows.",
        model: model)
    }
  }
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
