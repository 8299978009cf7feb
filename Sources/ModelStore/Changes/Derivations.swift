internal import Synchronization

/// The values that observers derived from one change or row so far.
///
/// Several observers may need the same value on different threads. Each is derived once, unless two
/// threads need it at the same moment.
struct Derivations: ~Copyable, Sendable {
  private final class Entry: Sendable {
    /// The class of ``value``.
    let type: ObjectIdentifier
    let value: any AnyObject & Sendable
    let rest = Derivations()

    init(_ value: any AnyObject & Sendable, as type: ObjectIdentifier) {
      self.type = type
      self.value = value
    }

    /// A cast by `as?` would take longer than all that follows.
    func value<Value: AnyObject & Sendable>(as wanted: Value.Type) -> Value? {
      type == ObjectIdentifier(wanted) ? unsafeDowncast(value, to: wanted) : nil
    }
  }

  /// The first value, set once. The standard library's `AtomicLazyReference` does the same, but
  /// every load of it looks up the metadata of its type: 500 instructions instead of two.
  private let first = Atomic<Unmanaged<Entry>?>(nil)

  deinit { first.load(ordering: .acquiring)?.release() }

  private var found: Entry? { first.load(ordering: .acquiring)?.takeUnretainedValue() }

  /// Stores `entry`, unless there is one already.
  ///
  /// - Returns: The stored one.
  private func keep(_ entry: Entry) -> Entry {
    let added = Unmanaged.passRetained(entry)
    let (isStored, present) = first.compareExchange(
      expected: nil, desired: added, ordering: .acquiringAndReleasing)
    guard !isStored, let present else { return entry }
    added.release()
    return present.takeUnretainedValue()
  }

  /// Returns the value for which `fits` is true. The first caller makes it.
  ///
  /// Observers that ask for many different values do not slow down others: beyond `depth` values,
  /// each caller makes its own.
  ///
  /// A value is found by the class as which it was made: as a superclass it is not found.
  func value<Value: AnyObject & Sendable>(
    upTo depth: Int = Self.depthMax, where fits: (Value) -> Bool, making make: () throws -> Value
  ) rethrows -> Value {
    guard depth > 0 else { return try make() }
    if let found {
      if let value = found.value(as: Value.self), fits(value) { return value }
      return try found.rest.value(upTo: depth - 1, where: fits, making: make)
    }
    let made = try make()
    let entry = Entry(made, as: ObjectIdentifier(Value.self))
    let kept = keep(entry)
    guard kept !== entry else { return made }
    // Another thread stored a value first, which may or may not be the wanted one.
    if let value = kept.value(as: Value.self), fits(value) { return value }
    return kept.rest.value(upTo: depth - 1, where: fits, making: { made })
  }

  /// Returns the value of this type for which `fits` is true, if it was made before.
  ///
  /// It is not generic, so that a caller looks up the type once for many rows.
  func known(
    _ type: ObjectIdentifier, where fits: (any AnyObject & Sendable) -> Bool
  ) -> (any AnyObject & Sendable)? {
    var next = found
    while let entry = next {
      if entry.type == type, fits(entry.value) { return entry.value }
      next = entry.rest.found
    }
    return nil
  }

  /// Shares a value that ``known(_:where:)`` did not find, unless there are ``depthMax`` already,
  /// or another thread has added one for which `fits` is true meanwhile.
  func add(
    _ value: any AnyObject & Sendable, as type: ObjectIdentifier,
    where fits: (any AnyObject & Sendable) -> Bool
  ) {
    let entry = Entry(value, as: type)
    var next = keep(entry)
    var depth = 1
    while next !== entry, depth < Self.depthMax {
      if next.type == type, fits(next.value) { return }
      next = next.rest.keep(entry)
      depth += 1
    }
  }

  /// The most values that are shared.
  static var depthMax: Int { 8 }
}
