/// One condition of a ``Gate``: a field of a record or draft, and its requirement.
///
/// It is only a description; a gate evaluates it. Create one for a record with
/// ``Store/check(_:_:of:_:_:)``.
public struct GateCheck<Value: Sendable>: Sendable {
  let condition: GateCondition

  init(_ condition: GateCondition) {
    self.condition = condition
  }

  /// Creates a check of a draft's field.
  ///
  /// - Parameters:
  ///   - name: The name in the verdict.
  ///   - message: The requirement, worded to follow the name: "must not be empty".
  ///   - holding: How the gate references the draft. Pass ``DraftReference/weak`` if the draft
  ///     retains the owner of the gate. Once the draft is released, the condition fails and no
  ///     longer changes.
  ///   - predicate: Returns whether the value is valid.
  public init<Draft>(
    _ name: String, of draft: LiveDraft<Draft>, _ field: any KeyPath<Draft, Value> & Sendable,
    _ message: String = "is not valid", holding: DraftReference = .strong,
    _ predicate: @escaping @Sendable (Value) -> Bool
  ) where Value: Equatable {
    condition = GateCondition(
      name: name, message: message, test: Self.test(predicate),
      source: .draft(Self.field(field, of: draft, keepsAlive: holding == .strong)))
  }

  /// Creates a check without a condition: a change of the field only re-evaluates the other checks.
  public init<Draft>(
    _ name: String, of draft: LiveDraft<Draft>, _ field: any KeyPath<Draft, Value> & Sendable,
    holding: DraftReference = .strong
  ) where Value: Equatable {
    condition = GateCondition(
      name: name, message: "", test: nil,
      source: .draft(Self.field(field, of: draft, keepsAlive: holding == .strong)))
  }

  private static func field<Draft>(
    _ field: any KeyPath<Draft, Value> & Sendable, of draft: LiveDraft<Draft>, keepsAlive: Bool
  ) -> GateCondition.DraftField where Value: Equatable {
    let held = keepsAlive ? draft : nil
    return GateCondition.DraftField(
      draft: ObjectIdentifier(draft),
      read: { [weak draft] in (held ?? draft)?.value },
      observe: { [weak draft] receive in
        guard let draft = held ?? draft else { return (nil, {}) }
        let (value, end) = draft.observe { receive($0) }
        return (value, end)
      },
      part: { whole in (whole as? Draft)?[keyPath: field] },
      isSame: { left, right in
        guard let left = left as? Value, let right = right as? Value else { return false }
        return left == right
      })
  }

  /// Returns the check with another weight, for ``Gate/Reduction/weight(atLeast:)``. The default is
  /// 1.
  ///
  /// - Precondition: `weight` is not negative.
  public func weighing(_ weight: Double) -> GateCheck {
    precondition(weight >= 0, "A weight must not be negative.")
    var condition = condition
    condition.weight = weight
    return GateCheck(condition)
  }

  static func test(
    _ predicate: @escaping @Sendable (Value) -> Bool
  ) -> @Sendable (any Sendable) -> Bool {
    { value in
      guard let value = value as? Value else { return false }
      return predicate(value)
    }
  }
}

/// A type-erased check.
struct GateCondition: Sendable {
  var name: String
  var message: String
  var weight = 1.0
  /// nil for a check without a condition.
  var test: (@Sendable (any Sendable) -> Bool)?
  var source: Source

  enum Source: Sendable {
    case draft(DraftField)
    case record(RecordField)
  }

  struct DraftField: Sendable {
    var draft: ObjectIdentifier
    /// Returns the whole draft; nil when it was released.
    var read: @Sendable () -> (any Sendable)?
    /// Returns the whole draft, nil when it was released, and a closure that ends later calls.
    var observe:
      @Sendable (@escaping @Sendable (any Sendable) -> Void) -> (
        value: (any Sendable)?, end: @Sendable () -> Void
      )
    /// Returns the field of a whole draft.
    var part: @Sendable (any Sendable) -> (any Sendable)?
    var isSame: @Sendable (any Sendable, any Sendable) -> Bool
  }

  struct RecordField: Sendable {
    var store: GateStore
    var place: GatePlace
    var name: String
    /// The field's position.
    var index: Int
    var decode: @Sendable (SQLValue) throws -> any Sendable
  }

  /// A field's value at one moment.
  struct Cell: Sendable {
    var value: any Sendable
    /// The stored value of a record's field; nil for a draft.
    var stored: SQLValue?
  }

  func isSame(_ left: Cell?, _ right: Cell?) -> Bool {
    switch (left, right) {
    case (nil, nil): return true
    case (let left?, let right?):
      if case .draft(let field) = source { return field.isSame(left.value, right.value) }
      return left.stored == right.stored
    default: return false
    }
  }
}

extension GateCondition.RecordField {
  /// Returns the field's value in the stored record; nil when the record does not exist.
  func cell(in image: [SQLValue]?) throws -> GateCondition.Cell? {
    try image.map { image in
      GateCondition.Cell(value: try decode(image[index]), stored: image[index])
    }
  }
}

/// A record that a gate observes.
struct GatePlace: Hashable, Sendable {
  var model: String
  var key: [SQLValue]
}

/// The parts of a store that a gate needs for its records.
struct GateStore: Sendable {
  /// The number of the store's scope.
  var identity: UInt64
  /// The number of the state that it shares with other stores on its file.
  var coreIdentity: UInt64
  /// Reads the current records, all from one state of the store, in the order of places; nil for a
  /// missing record.
  var read: @Sendable ([GatePlace]) throws -> [[SQLValue]?]
  /// Reads one current record, or nil. Called on the delivery queue.
  var reread: @Sendable (GatePlace) throws -> [SQLValue]?
  /// Registers a feed for every later commit that touches its records. Calls the closure with the
  /// current records while no commit can come between.
  var begin: @Sendable (GateFeed, ([[SQLValue]?]) throws -> Void) throws -> Void
  /// Calls the closure when the store closes, or at once when it is already closed. Returns a
  /// closure that cancels this.
  var whenOver: @Sendable ([GatePlace], @escaping @Sendable () -> Void) -> @Sendable () -> Void
  var report: @Sendable (any Error) -> Void
  /// The threads for the gate's asynchronous forms.
  var calls: BlockingCalls
}

/// How a gate references a draft that it checks.
public enum DraftReference: Hashable, Sendable {
  /// The gate retains the draft.
  case strong
  /// The gate does not retain the draft. Once the draft is released, the check fails.
  case weak
}
