public import Observation
internal import Synchronization

extension FieldSubject where Value: Equatable {
  /// Keeps the field and a property of an observable object on the main actor equal, for as long as
  /// the object lives.
  ///
  /// ```swift
  /// let binding = try store.subject(\Album.title, of: 1).bindBothWays(to: form, \.title)
  /// ```
  ///
  /// First the property is set to the field's current value, if the record exists. Then the binding
  /// works in both directions:
  ///
  /// - Each change of the field is assigned to the property.
  /// - Each change of the property is written to the field, in its own transaction, without
  ///   blocking the main actor. During a write later values wait, and only the latest of them is
  ///   written next.
  ///
  /// A written value is not assigned back to the property, which may be newer by then. If another
  /// writer changes the field during the write, its value is assigned afterwards, unless the
  /// binding has written a later value. The binding does not retain the object.
  ///
  /// A value for a record that does not exist is dropped. If a rule rejects a value, the store's
  /// `onError` receives the error, and the property keeps the value so that it can be corrected. If
  /// another writer changed the field in the meantime, the property is set to the field's value
  /// instead.
  ///
  /// - Returns: A token to keep: releasing it ends the binding.
  /// - Throws: ``StoreError`` with code `misuse` when the store is closed.
  @MainActor
  public func bindBothWays<Target: AnyObject & Observable>(
    to target: Target, _ property: ReferenceWritableKeyPath<Target, Value>
  ) throws -> ObservationToken {
    let property = MainActorProperty(target, property)
    let binding = PropertyBinding(
      read: { property.value }, set: { property.set($0) }, write: writeLater)
    let assignment = binding.assignment
    let subscription = try begin { assignment.put(.init(value: $0, version: $1)) }
    binding.track()
    return ObservationToken(subscription.outlet) {
      assignment.end()
      binding.flags.withLock { $0.hasEnded = true }
      subscription.cancel()
    }
  }
}

/// The two directions between a field and a property of an observable object.
@MainActor
private final class PropertyBinding<Value: Equatable & Sendable> {
  /// State that the tracked access updates at once, on the thread that changes the property.
  struct Flags {
    var isTracking = false
    /// Whether the binding itself sets the property.
    var isAssigning = false
    /// Whether the property has a value that is not yet written.
    var isDirty = false
    var hasEnded = false
  }

  /// A value of the field with the store version that set it.
  struct Stored: Sendable {
    let value: Value
    let version: UInt64
  }

  /// Returns the property's value; nil when the object was released.
  private let read: @MainActor () -> Value?
  private let set: @MainActor (Value) -> Void
  /// Writes a value and waits until every change up to its commit is delivered. Returns the version
  /// of the commit; nil when nothing was written.
  private let write: @Sendable (Value) async -> UInt64?
  /// Field changes that wait for the main actor.
  private(set) lazy var assignment = MainActorAssignment<Stored> { [weak self] stored in
    self?.fieldChanged(to: stored)
  }
  nonisolated let flags = Mutex(Flags())
  private var isWriting = false
  /// The latest written value, and its commit.
  private var written: Stored?
  /// The value that the property's own setter last made of an assigned value. It is written only
  /// once, because another program may convert it again each time.
  private var corrected: Value?
  /// The field's value while the property had a newer one.
  private var skipped: Stored?
  /// The last value that the field and the property are known to have had in common.
  private var common: Value?

  init(
    read: @escaping @MainActor () -> Value?, set: @escaping @MainActor (Value) -> Void,
    write: @escaping @Sendable (Value) async -> UInt64?
  ) {
    self.read = read
    self.set = set
    self.write = write
    common = read()
  }

  /// Observes the next change of the property.
  func track() {
    let isTracked = flags.withLock { flags in
      defer { flags.isTracking = true }
      return flags.isTracking || flags.hasEnded
    }
    guard !isTracked else { return }
    withObservationTracking {
      _ = read()
    } onChange: { [weak self] in
      self?.propertyWillChange()
    }
  }

  /// Called before the property has its new value, so the value is read in a later turn.
  nonisolated private func propertyWillChange() {
    let isOwn = flags.withLock { flags in
      flags.isTracking = false
      if !flags.isAssigning { flags.isDirty = true }
      return flags.isAssigning || flags.hasEnded
    }
    guard !isOwn else { return }
    writeInATurn()
  }

  nonisolated private func writeInATurn() {
    Task { @MainActor [weak self] in
      self?.track()
      await self?.writeChanges()
    }
  }

  private func writeChanges() async {
    guard !isWriting else { return }
    isWriting = true
    while takeDirty() {
      guard let value = read(), value != common else { continue }
      if value != corrected { corrected = nil }
      common = value
      let version = await write(value)
      // The latest change of the field is now known.
      assignment.take()
      guard let version else { continue }
      written = Stored(value: value, version: version)
      guard let stored = skipped, isOutdated(stored) else { continue }
      if stored.version == version { common = stored.value }
      skipped = nil
    }
    isWriting = false
    if let stored = skipped.take() { fieldChanged(to: stored) }
  }

  /// Returns whether the property has changed since the last call, and observes its next change.
  private func takeDirty() -> Bool {
    let isDirty = flags.withLock { flags in
      defer { flags.isDirty = false }
      return flags.isDirty && !flags.hasEnded
    }
    if isDirty { track() }
    return isDirty
  }

  /// Returns whether the property has a newer value than `stored`. That is a value written after
  /// it, or one set after the commit that `stored` belongs to.
  private func isOutdated(_ stored: Stored) -> Bool {
    guard let written else { return false }
    guard stored.version == written.version else { return stored.version < written.version }
    return read() != written.value
  }

  /// Assigns the field's new value, unless the property has a newer one.
  private func fieldChanged(to stored: Stored) {
    guard !isOutdated(stored) else { return }
    let isAssignable = flags.withLock { flags in
      guard !flags.isDirty, !flags.hasEnded else { return false }
      flags.isAssigning = true
      return true
    }
    guard isAssignable, !isWriting else {
      flags.withLock { $0.isAssigning = false }
      skipped = stored
      return
    }
    common = stored.value
    if read() != stored.value { set(stored.value) }
    flags.withLock { $0.isAssigning = false }
    track()
    // The property's own setter may have changed the value; then the field receives the result.
    guard let value = read(), value != stored.value, value != corrected else { return }
    corrected = value
    flags.withLock { $0.isDirty = true }
    writeInATurn()
  }
}
