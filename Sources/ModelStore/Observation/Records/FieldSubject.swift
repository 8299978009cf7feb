/// One field of one record as a source of values and a place to send them to. What it is told goes
/// into the file; for values that belong in no file take an `AsyncStream`.
///
/// It is hot: what happened before a subscription began is not told. As an asynchronous sequence it
/// gives each value that the field takes from the moment when a loop begins; ``stream`` gives the
/// same values to callbacks and other fields. Either tells values only, so nothing when the record
/// is deleted.
///
/// It does not keep the store open. Subscriptions hold what they need of it; it need not be kept.
public final class FieldSubject<M: Model, Value: ColumnValue>: Sendable {
  let place: Wave.Place
  /// Where tasks have its blocking calls made.
  let calls: BlockingCalls
  private let write: @Sendable (Value) throws -> Void
  /// Writes without blocking the caller's thread. Returns the version of its commit, after every
  /// commit up to that one was delivered; nil when nothing was written, because the record is not
  /// there or for a reason that was reported.
  let writeLater: @Sendable (Value) async -> UInt64?
  /// nil once the store is closed.
  private let loop: @Sendable () throws -> ChangeSequence<FieldEvent<Value>>?
  /// Begins with the field's present value, where there is a record. Each value comes with the
  /// version from which on it holds.
  let begin: @Sendable (@escaping @Sendable (Value, UInt64) -> Void) throws -> ObservationToken
  /// The values from now on, for callbacks and other fields.
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

  /// Sets the field, in a transaction of its own, on the calling thread. Whoever observes the field
  /// hears of it, this subject's subscribers too, unless it has that value already.
  ///
  /// - Throws: ``StoreError`` with code `recordNotFound` when there is no such record, `rejected`
  ///   when a rule refuses the value, `misuse` inside a transaction and after the store was closed.
  public func send(_ value: Value) throws { try write(value) }

  /// Sets the field to `value`, as the synchronous form does.
  ///
  /// - Throws: As the synchronous form; `CancellationError` if you cancel the task. Then nothing was
  ///   changed.
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
