internal import Synchronization

/// The values of a ``FieldSubject``, on their way through `filter` and `map` to callbacks and other
/// fields. It is a description, nothing flows before it is subscribed or bound; what flows is what
/// happens from then on.
///
/// For a loop, take the subject itself, an asynchronous sequence. The operators here are those that
/// run in the callback itself, so that a value keeps its place in the order of commits, and a chain
/// of bindings knows where it has been.
public struct ValueStream<Value: Sendable>: Sendable {
  private let begin: @Sendable (@escaping @Sendable (Value) -> Void) throws -> ObservationToken
  /// Told when a binding cannot write what it is sent.
  private let report: @Sendable (StoreError) -> Void

  init(
    report: @escaping @Sendable (StoreError) -> Void,
    begin: @escaping @Sendable (@escaping @Sendable (Value) -> Void) throws -> ObservationToken
  ) {
    self.report = report
    self.begin = begin
  }

  /// Calls `body` with each value from now on, on the store's delivery queue. Subscribers of one
  /// field are called in the order in which they subscribed.
  ///
  /// - Returns: Keep it: dropping it ends all that was begun for it, up to the field.
  /// - Throws: ``StoreError`` when the field cannot be observed.
  public func subscribe(_ body: @escaping @Sendable (Value) -> Void) throws -> ObservationToken {
    try begin(body)
  }

  /// The values that pass `isIncluded`.
  public func filter(_ isIncluded: @escaping @Sendable (Value) -> Bool) -> ValueStream {
    ValueStream(report: report) { [begin] body in
      try begin { value in if isIncluded(value) { body(value) } }
    }
  }

  /// What `transform` makes of each value.
  public func map<Mapped: Sendable>(
    _ transform: @escaping @Sendable (Value) -> Mapped
  ) -> ValueStream<Mapped> {
    ValueStream<Mapped>(report: report) { [begin] body in
      try begin { value in body(transform(value)) }
    }
  }

  /// Without values that are equal to the one before. Each subscription remembers its own.
  ///
  /// A field tells no change that is none, so this is for what `map` made, and for resets.
  public func removeDuplicates() -> ValueStream where Value: Equatable {
    ValueStream(report: report) { [begin] body in
      let last = Mutex<Value?>(nil)
      return try begin { value in
        let former = last.withLock { last in
          let former = last
          last = value
          return former
        }
        // Compared and released outside the lock: both may run the caller's code.
        if former != value { body(value) }
      }
    }
  }

  /// Writes each value into the field of `subject`, in a transaction of its own.
  ///
  /// A value never returns to a field that it came from, however many bindings it went through and
  /// whatever they made of it: two fields may be bound to each other, or many in a circle. A value
  /// for a record that is not there is dropped; a value that a rule refuses goes to the store's
  /// `onError`.
  ///
  /// - Returns: Keep it: dropping it ends the binding.
  /// - Throws: ``StoreError`` when the field that the values come from cannot be observed.
  public func bind<M>(to subject: FieldSubject<M, Value>) throws -> ObservationToken {
    try begin { [report] value in
      guard !Wave.current.hasPassed(subject.place) else { return }
      do {
        try subject.send(value)
      } catch let error as StoreError where error.code == .recordNotFound {
        // Like a target that is gone: there is nowhere to put the value.
      } catch {
        report(StoreError(reporting: error))
      }
    }
  }

  /// Assigns each value to a property of `target`, on the store's delivery queue, for as long as
  /// `target` lives. The binding does not keep it alive.
  ///
  /// - Returns: Keep it: dropping it ends the binding.
  /// - Throws: ``StoreError`` when the field that the values come from cannot be observed.
  public func bind<Target: AnyObject & Sendable>(
    to target: Target, _ property: any ReferenceWritableKeyPath<Target, Value> & Sendable
  ) throws -> ObservationToken {
    try begin { [weak target] value in target?[keyPath: property] = value }
  }
}
