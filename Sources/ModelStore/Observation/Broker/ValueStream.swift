internal import Synchronization

/// The values of a ``FieldSubject``, passed through `filter` and `map` to callbacks and other
/// fields.
///
/// A stream is a description: nothing is observed until you subscribe or bind it, and you receive
/// only later changes.
///
/// For a loop, use the subject itself, which is an asynchronous sequence. The operators here run in
/// the callback. So values keep their place in commit order, and a chain of bindings can detect
/// cycles.
public struct ValueStream<Value: Sendable>: Sendable {
  private let begin: @Sendable (@escaping @Sendable (Value) -> Void) throws -> ObservationToken
  /// Receives the error when a binding cannot write a value.
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
  /// - Returns: A token to keep: releasing it ends the subscription.
  /// - Throws: ``StoreError`` when the field cannot be observed.
  public func subscribe(_ body: @escaping @Sendable (Value) -> Void) throws -> ObservationToken {
    try begin(body)
  }

  /// Returns a stream of the values that satisfy `isIncluded`.
  public func filter(_ isIncluded: @escaping @Sendable (Value) -> Bool) -> ValueStream {
    ValueStream(report: report) { [begin] body in
      try begin { value in if isIncluded(value) { body(value) } }
    }
  }

  /// Returns a stream of the values that `transform` returns.
  public func map<Mapped: Sendable>(
    _ transform: @escaping @Sendable (Value) -> Mapped
  ) -> ValueStream<Mapped> {
    ValueStream<Mapped>(report: report) { [begin] body in
      try begin { value in body(transform(value)) }
    }
  }

  /// Returns a stream without consecutive equal values. Each subscription compares its own values.
  ///
  /// A field reports only actual changes, so you need this only after `map`, and for resets.
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
  /// A value never returns to a field that it came from, whatever bindings and transformations it
  /// passed through. So you may bind two fields to each other, or several in a circle. A value for
  /// a record that does not exist is dropped. If a rule rejects a value, the store's `onError`
  /// receives the error.
  ///
  /// - Returns: A token to keep: releasing it ends the binding.
  /// - Throws: ``StoreError`` when the field that the values come from cannot be observed.
  public func bind<M>(to subject: FieldSubject<M, Value>) throws -> ObservationToken {
    try begin { [report] value in
      guard !Wave.current.hasPassed(subject.place) else { return }
      do {
        try subject.send(value)
      } catch let error as StoreError where error.code == .recordNotFound {
        // Like a released target object: the value cannot be written anywhere.
      } catch {
        report(StoreError(reporting: error))
      }
    }
  }

  /// Assigns each value to a property of `target`, on the store's delivery queue, for as long as
  /// `target` lives. The binding does not retain it.
  ///
  /// - Returns: A token to keep: releasing it ends the binding.
  /// - Throws: ``StoreError`` when the field that the values come from cannot be observed.
  public func bind<Target: AnyObject & Sendable>(
    to target: Target, _ property: any ReferenceWritableKeyPath<Target, Value> & Sendable
  ) throws -> ObservationToken {
    try begin { [weak target] value in target?[keyPath: property] = value }
  }
}
