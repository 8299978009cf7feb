public import Observation
internal import Synchronization

/// One record that is kept up to date, for Swift's Observation framework.
///
/// It is read-only and reports no old values; for those, observe the record. For a list use a
/// ``LiveQuery``.
///
/// `withObservationTracking` and `Observations` track what they read field by field. For example, a
/// commit that changes the title notifies only code that read the title. A stored property counts
/// as one field; a computed property and ``record`` count as the whole record. Unlike with
/// `@Observable`, the new value is already set when the change is announced. So no other thread can
/// read the old value in between and miss the new one.
///
/// The record changes on the store's delivery queue, in its turn among the callbacks. Faster
/// commits are coalesced. You can read it on any thread. It is kept up to date while you retain it,
/// and does not keep the store open.
@dynamicMemberLookup
public final class LiveRecord<M: Model>: Observable, Sendable {
  /// The record at one moment, as stored values and as a value of the model.
  struct State: Sendable {
    let image: [SQLValue]?
    let record: M?

    init(_ image: [SQLValue]?) throws {
      self.image = image
      record = try image.map { try M(row: RowView(image: $0)) }
    }
  }

  /// The record's key. The record need not exist.
  public let key: M.Key
  private let registrar = ObservationRegistrar()
  // Never held while an observer runs.
  private let state: Mutex<State>
  private let registration: ObservationToken

  /// - Parameter registration: Ends when this object is released.
  init(key: M.Key, state: State, registration: ObservationToken) {
    self.key = key
    self.state = Mutex(state)
    self.registration = registration
  }

  /// The record as of the latest delivered commit; nil while it does not exist.
  public var record: M? {
    registrar.access(self, keyPath: \.record)
    return state.withLock { $0.record }
  }

  /// Returns a property of the record as of the latest delivered commit; nil while the record does
  /// not exist.
  ///
  /// Access a property called `key` or `record` through ``record``.
  public subscript<Value>(
    dynamicMember path: any KeyPath<M, Value> & Sendable
  ) -> Value? {
    if let index = M.definition.fieldIndex(of: path) {
      registrar.access(self, keyPath: \.[field: index])
    } else {
      registrar.access(self, keyPath: \.record)
    }
    return state.withLock { $0.record }?[keyPath: path]
  }

  /// Identifies a field to the registrar; it has no value.
  private subscript(field index: Int) -> Void { () }

  /// Sets the latest state and notifies observers. Called on the delivery queue.
  func follow(_ latest: State) {
    let image = latest.image
    let former = state.withLock { state in
      let former = state
      state = latest
      return former
    }
    // The former value is released here, outside the lock.
    let before = former.image
    guard before != image else { return }
    let fields = M.schema.fields.indices.filter { before?[$0] != image?[$0] }
    registrar.willSet(self, keyPath: \.record)
    for field in fields { registrar.willSet(self, keyPath: \.[field: field]) }
    for field in fields { registrar.didSet(self, keyPath: \.[field: field]) }
    registrar.didSet(self, keyPath: \.record)
  }
}
