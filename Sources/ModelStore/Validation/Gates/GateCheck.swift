/// One condition of a ``Gate``: a field of a record or of a draft, and what it has to meet. It
/// describes; nothing is looked at before a gate is made of it.
///
/// For a record, ``Store/check(_:_:of:_:_:)`` makes it.
public struct GateCheck<Value: Sendable>: Sendable {
  let condition: GateCondition

  init(_ condition: GateCondition) {
    self.condition = condition
  }

  /// A field of a draft.
  ///
  /// - Parameters:
  ///   - name: What the verdict calls it.
  ///   - message: What is demanded, to follow the name: "must not be empty".
  ///   - holding: How the gate holds the draft. Say ``DraftReference/weak`` where the draft's owner
  ///     is held by the draft; once it is gone, the condition fails and changes no more.
  ///   - predicate: Whether the value is good.
  public init<Draft>(
    _ name: String, of draft: LiveDraft<Draft>, _ field: any KeyPath<Draft, Value> & Sendable,
    _ message: String = "is not valid", holding: DraftReference = .strong,
    _ predicate: @escaping @Sendable (Value) -> Bool
  ) where Value: Equatable {
    condition = GateCondition(
      name: name, message: message, test: Self.test(predicate),
      source: .draft(Self.field(field, of: draft, keepsAlive: holding == .strong)))
  }

  /// A field of a draft whose changes are only a reason to look at the other conditions.
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

  /// The same condition with another weight, for ``Gate/Reduction/weight(atLeast:)``; 1 otherwise.
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

/// A check without its type.
struct GateCondition: Sendable {
  var name: String
  var message: String
  var weight = 1.0
  /// nil for one that decides nothing.
  var test: (@Sendable (any Sendable) -> Bool)?
  var source: Source

  enum Source: Sendable {
    case draft(DraftField)
    case record(RecordField)
  }

  struct DraftField: Sendable {
    var draft: ObjectIdentifier
    /// The whole draft; nil when it is gone.
    var read: @Sendable () -> (any Sendable)?
    /// The whole draft, nil when it is gone, and what ends the calls with later ones.
    var observe:
      @Sendable (@escaping @Sendable (any Sendable) -> Void) -> (
        value: (any Sendable)?, end: @Sendable () -> Void
      )
    /// The field of a whole draft.
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
    /// As the file has it, where it is a record's.
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
  /// The field in the record as the file has it; nil when there is no record.
  func cell(in image: [SQLValue]?) throws -> GateCondition.Cell? {
    try image.map { image in
      GateCondition.Cell(value: try decode(image[index]), stored: image[index])
    }
  }
}

/// A record that a gate looks at, and which of its fields.
struct GatePlace: Hashable, Sendable {
  var model: String
  var key: [SQLValue]
}

/// What a gate needs of the store of its records.
struct GateStore: Sendable {
  /// The number of the store's scope.
  var identity: UInt64
  /// The number of what it shares with other stores on its file.
  var coreIdentity: UInt64
  /// The records as they are now, all of one state of the store, in the order of places; nil for
  /// one that is not there.
  var read: @Sendable ([GatePlace]) throws -> [[SQLValue]?]
  /// One record as it is now, or nil, for the delivery queue.
  var reread: @Sendable (GatePlace) throws -> [SQLValue]?
  /// Has a feed told of every later commit that touches its records, and calls the closure with
  /// them as they are now while no commit can come between.
  var begin: @Sendable (GateFeed, ([[SQLValue]?]) throws -> Void) throws -> Void
  /// Has the closure called when the store closes, at once when it has closed already. Returns what
  /// takes that back.
  var whenOver: @Sendable ([GatePlace], @escaping @Sendable () -> Void) -> @Sendable () -> Void
  var report: @Sendable (any Error) -> Void
  /// Where tasks have the gate's blocking calls made.
  var calls: BlockingCalls
}

/// How a gate holds a draft that it checks.
public enum DraftReference: Hashable, Sendable {
  /// The draft lives as long as the gate.
  case strong
  /// The draft may go before the gate; the check then fails.
  case weak
}
