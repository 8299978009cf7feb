/// What an observation reports in addition to each change. Old and new values are always included.
public struct ObservationOptions: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Reports the current value first, in a call of its own on the delivery queue, with the phase
  /// ``ObservationPhase/initial``. You then receive every later commit, and none that this value
  /// already contains.
  ///
  /// Reading the record makes writers wait. Inside a write the store throws `misuse`, because the
  /// current value is not yet committed.
  public static let initial = ObservationOptions(rawValue: 1)

  /// Reports each change in two calls. The first has the phase ``ObservationPhase/before``, the old
  /// value and no new value.
  ///
  /// Both calls come after COMMIT, one right after the other, because a change could be rolled back
  /// until then. So the store already has the new value in the first call. Use that call to release
  /// what depends on the old value.
  public static let prior = ObservationOptions(rawValue: 2)

  /// Makes a write return only after the callback has been called. What the callback updates is
  /// then up to date when the writing code continues.
  ///
  /// The call still comes after COMMIT, on the delivery queue and in its turn. So the write also
  /// waits for the callbacks before it. Writes made by a callback and writes of other processes do
  /// not wait.
  ///
  /// The callback must not wait for anything that the writing thread holds, for example a
  /// transaction of another store. A loop takes events at its own pace, so a write cannot wait for
  /// it.
  public static let synchronous = ObservationOptions(rawValue: 4)
}

extension ObservationOptions {
  /// The kind of code that receives the events.
  enum Taker { case callback, loop }

  /// - Throws: ``StoreError`` with code `misuse` for options that are not available here.
  func check(
    allowing allowed: ObservationOptions, by taker: Taker, of model: String
  ) throws(StoreError) {
    if contains(.synchronous), taker == .loop {
      throw StoreError(
        .misuse, "A write cannot wait for a loop. Observe with a callback instead.",
        model: model)
    }
    guard subtracting([.synchronous]).isSubset(of: allowed) else {
      throw StoreError(
        .misuse,
        allowed.isEmpty
          ? "All records of \(model) have no single value to report at the start or before a change; use a live query."
          : "A result of \(model) is not reported before a change; each event contains the old rows.",
        model: model)
    }
  }
}

/// The phase of a change in which an observer is called.
public enum ObservationPhase: Hashable, Sendable {
  /// The initial call, on request: nothing has changed. The new value is the current one. The
  /// origin is ``Origin/foreign``, because the store does not know who set the value.
  case initial
  /// The call before the change, on request: it has only the old value.
  case before
  /// The change itself.
  case after
}
