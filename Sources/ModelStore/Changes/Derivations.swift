internal import Synchronization

/// The values that observers derived from one change or row so far.
///
/// Several observers may need the same value on different threads. Each is derived once, unless two
/// threads need it at the same moment.
struct Derivations: ~Copyable, Sendable {
  private final class Entry: Sendable {
    let value: any AnyObject & Sendable
    let rest = Derivations()

    init(_ value: any AnyObject & Sendable) { self.value = value }
  }

  private let first = AtomicLazyReference<Entry>()

  /// Returns the value for which `fits` is true. The first caller makes it.
  ///
  /// Observers that ask for many different values do not slow down others: beyond `depth` values,
  /// each caller makes its own.
  func value<Value: AnyObject & Sendable>(
    upTo depth: Int = 8, where fits: (Value) -> Bool, making make: () throws -> Value
  ) rethrows -> Value {
    guard depth > 0 else { return try make() }
    if let found = first.load() {
      if let value = found.value as? Value, fits(value) { return value }
      return try found.rest.value(upTo: depth - 1, where: fits, making: make)
    }
    let made = try make()
    let entry = Entry(made)
    let kept = first.storeIfNil(entry)
    guard kept !== entry else { return made }
    // Another thread stored a value first, which may or may not be the wanted one.
    if let value = kept.value as? Value, fits(value) { return value }
    return kept.rest.value(upTo: depth - 1, where: fits, making: { made })
  }
}
