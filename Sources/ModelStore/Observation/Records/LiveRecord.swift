public import Observation
internal import Synchronization

/// One record kept true, for the standard library's Observation. It is read only and tells no old
/// values; for those, observe the record, and for a list take a ``LiveQuery``.
///
/// What `withObservationTracking` or `Observations` reads through it is tracked field by field: a
/// commit that changes the title wakes those who read the title. A stored property is one field;
/// a computed property and ``record`` count as the whole record. Unlike with `@Observable`, the
/// new value is there already when the change is announced, so that nobody on another thread can
/// read the old one in between and miss the new one.
///
/// The record changes on the store's delivery queue, in its turn among the callbacks; commits that
/// come faster are taken as one. It may be read on any thread. It follows its record for as long as
/// it is held, and does not keep the store open.
@dynamicMemberLookup
public final class LiveRecord<M: Model>: Observable, Sendable {
  /// The record at one moment, as the file has it and as a value of the model.
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

  /// - Parameter registration: Ends with this.
  init(key: M.Key, state: State, registration: ObservationToken) {
    self.key = key
    self.state = Mutex(state)
    self.registration = registration
  }

  /// The record as of the latest commit delivered; nil while there is none.
  public var record: M? {
    registrar.access(self, keyPath: \.record)
    return state.withLock { $0.record }
  }

  /// A property of the record as of the latest commit delivered; nil while there is no record.
  ///
  /// A property called `key` or `record` is reached through ``record``.
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

  /// What the registrar knows a field by; it has no value.
  private subscript(field index: Int) -> Void { () }

  /// Takes over what the record has become. On the delivery queue.
  func follow(_ latest: State) {
    let image = latest.image
    let former = state.withLock { state in
      let former = state
      state = latest
      return former
    }
    // The value that goes is released here, outside the lock.
    let before = former.image
    guard before != image else { return }
    let fields = M.schema.fields.indices.filter { before?[$0] != image?[$0] }
    registrar.willSet(self, keyPath: \.record)
    for field in fields { registrar.willSet(self, keyPath: \.[field: field]) }
    for field in fields { registrar.didSet(self, keyPath: \.[field: field]) }
    registrar.didSet(self, keyPath: \.record)
  }
}
