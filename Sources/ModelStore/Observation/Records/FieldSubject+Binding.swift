public import Observation
internal import Synchronization

extension FieldSubject where Value: Equatable {
  /// Keeps the field and a property of an observable object of the main actor equal, in both
  /// directions, for as long as the object lives.
  ///
  /// ```swift
  /// let binding = try store.subject(\Album.title, of: 1).bindBothWays(to: form, \.title)
  /// ```
  ///
  /// First the property gets the field's present value, if there is a record. Then each change of
  /// the field is assigned to the property, and each change of the property is written to the
  /// field, in a transaction of its own that does not block the main actor. While a value is being
  /// written, later ones wait, and only the latest of them is written. A written value does not
  /// come back to the property, which may have a newer one by then. A change of the field by
  /// others that arrives meanwhile is assigned after that, unless a later value was written. The
  /// binding does not keep the object alive.
  ///
  /// A value for a record that is not there is dropped. A value that a rule refuses goes to the
  /// store's `onError`; the property keeps it, so that it can be corrected. If others changed the
  /// field meanwhile, the property gets the field's value instead.
  ///
  /// - Returns: Keep it: dropping it ends the binding.
  /// - Throws: ``StoreError`` with code `misuse` when the store is closed.
  @MainActor
  public func bindBothWays<Target: AnyObject & Observable>(
    to target: Target, _ property: ReferenceWritableKeyPath<Target, Value>
  ) throws -> ObservationToken {
    let binding = makeBinding(to: target, property)
    let assignment = binding.assignment
    return binding.begun(try begin { assignment.put(.init(value: $0, version: $1)) })
  }

  /// Keeps the field and a property equal, as the synchronous form does. The main actor does not
  /// wait while the field is read.
  ///
  /// - Throws: As the synchronous form; `CancellationError` if you cancel the task.
  @MainActor
  public func bindBothWays<Target: AnyObject & Observable>(
    to target: Target, _ property: ReferenceWritableKeyPath<Target, Value>
  ) async throws -> ObservationToken {
    let binding = makeBinding(to: target, property)
    let assignment = binding.assignment
    let subscription = try await calls.run { [begin] in
      try begin { assignment.put(.init(value: $0, version: $1)) }
    }
    return binding.begun(subscription)
  }

  @MainActor
  private func makeBinding<Target: AnyObject & Observable>(
    to target: Target, _ property: ReferenceWritableKeyPath<Target, Value>
  ) -> PropertyBinding<Value> {
    let property = MainActorProperty(target, property)
    return PropertyBinding(
      read: { property.value }, set: { property.set($0) }, write: writeLater)
  }
}

/// The two directions between a field and a property of an observable object.
@MainActor
private final class PropertyBinding<Value: Equatable & Sendable> {
  /// What the tracked access tells at once, on the thread that changes the property.
  struct Flags {
    var isTracking = false
    /// Whether the binding itself sets the property.
    var isAssigning = false
    /// Whether the property has a value that is not written yet.
    var isDirty = false
    var hasEnded = false
  }

  /// A value that the field has had since a version of the store.
  struct Stored: Sendable {
    let value: Value
    let version: UInt64
  }

  /// The property's value; nil when the object has gone.
  private let read: @MainActor () -> Value?
  private let set: @MainActor (Value) -> Void
  /// Returns the version of the commit, after every change up to then was delivered; nil when
  /// nothing was written.
  private let write: @Sendable (Value) async -> UInt64?
  /// Where changes of the field wait for their turn of the main actor.
  private(set) lazy var assignment = MainActorAssignment<Stored> { [weak self] stored in
    self?.fieldChanged(to: stored)
  }
  nonisolated let flags = Mutex(Flags())
  private var isWriting = false
  /// The latest value that was written, and its commit.
  private var written: Stored?
  /// What the property's own setter last made of a value. It is written once, because another
  /// program may always make something else of it.
  private var corrected: Value?
  /// What the field has become while the property had a newer value.
  private var skipped: Stored?
  /// What field and property were last known to have in common.
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

  /// Begins to follow the property. The field is followed already, by `subscription`.
  ///
  /// - Returns: What ends both and keeps the binding.
  func begun(_ subscription: ObservationToken) -> ObservationToken {
    track()
    return ObservationToken(subscription.outlet) { [self, assignment] in
      assignment.end()
      flags.withLock { $0.hasEnded = true }
      subscription.cancel()
    }
  }

  /// Notices the next change of the property.
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

  /// Called before the property has its new value, so what follows is done in a later turn.
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
      // The last change of the field is now known.
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

  /// Whether the property has changed since the last call. Later changes are noticed again.
  private func takeDirty() -> Bool {
    let isDirty = flags.withLock { flags in
      defer { flags.isDirty = false }
      return flags.isDirty && !flags.hasEnded
    }
    if isDirty { track() }
    return isDirty
  }

  /// Whether the property has a newer value than `stored`: the one that was written after it, or
  /// one that came after the commit whose result `stored` is.
  private func isOutdated(_ stored: Stored) -> Bool {
    guard let written else { return false }
    guard stored.version == written.version else { return stored.version < written.version }
    return read() != written.value
  }

  /// Assigns what the field has become, unless the property has a newer value.
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
    // The property's own setter may have made another value of it, which goes to the field.
    guard let value = read(), value != stored.value, value != corrected else { return }
    corrected = value
    flags.withLock { $0.isDirty = true }
    writeInATurn()
  }
}
