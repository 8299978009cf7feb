/// One field of one record as a source of values and a destination for them. Sent values are stored
/// in the file. For values that you do not want to store, use an `AsyncStream`.
///
/// A subject is hot: a subscription receives only later changes. As an asynchronous sequence, the
/// subject yields each value that the field takes after the loop begins. ``stream`` passes the same
/// values to callbacks and other fields. Both report only values, so nothing when the record is
/// deleted.
///
/// A subject does not keep the store open. You need not retain it: subscriptions retain what they
/// need.
public final class FieldSubject<M: Model, Value: ColumnValue>: Sendable {
  let place: Wave.Place
  /// The threads for its asynchronous forms.
  let calls: BlockingCalls
  private let write: @Sendable (Value) throws -> Void
  /// Writes without blocking the calling thread. Returns the commit's version, after every commit
  /// up to it was delivered. Returns nil when nothing was written because the record does not
  /// exist, or because of an error that was reported.
  let writeLater: @Sendable (Value) async -> UInt64?
  /// Returns nil once the store is closed.
  private let loop: @Sendable () throws -> ChangeSequence<FieldEvent<Value>>?
  /// Starts with the field's current value, if the record exists. Each value comes with the version
  /// that set it.
  let begin: @Sendable (@escaping @Sendable (Value, UInt64) -> Void) throws -> ObservationToken
  /// The later values, for callbacks and other fields.
  public let stream: ValueStream<Value>

  init(
    place: Wave.Place, calls: BlockingCalls, write: @escaping @Sendable (Value) throws -> Void,
    writeLater: @escaping @Sendable (Value) async -> UInt64?,
    loop: @escaping @Sendable () throws -> ChangeSequence<FieldEvent<Value>>?,
    begin:
      @escaping @Sendable (@escaping @Sendable (Value, UInt64) -> Void) throws -> ObservationToken,
    stream: ValueStream<Value>
  ) {
    self.place = place
    self.calls = calls
    self.write = write
    self.writeLater = writeLater
    self.loop = loop
    self.begin = begin
    self.stream = stream
  }

  /// Sets the field in its own transaction, on the calling thread. Unless the value is unchanged,
  /// all observers of the field are notified, including this subject's subscribers.
  ///
  /// - Throws: ``StoreError`` with code `recordNotFound` when the record does not exist, `rejected`
  ///   when a rule rejects the value, and `misuse` inside a transaction and after the store was
  ///   closed.
  public func send(_ value: Value) throws { try write(value) }

  /// Sets the field to `value`, as the synchronous form does.
  ///
  /// - Throws: As the synchronous form; `CancellationError` if you cancel the task. Then nothing
  ///   was changed.
  public func send(_ value: Value) async throws {
    try await calls.run { [write] in try write(value) }
  }
}

extension FieldSubject: AsyncSequence {
  public typealias Element = Value
  public typealias Failure = any Error

  /// The values of one loop.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let start: Result<ChangeSequence<FieldEvent<Value>>.Iterator?, any Error>

    public mutating func next() async throws -> Value? {
      guard var changes = try start.get() else { return nil }
      while let change = try await changes.next() {
        if let value = change.new { return value }
      }
      return nil
    }
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(start: Result { try loop()?.makeAsyncIterator() })
  }
}
