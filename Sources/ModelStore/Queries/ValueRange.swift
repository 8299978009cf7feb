/// The values between two edges, in the order of a field: a record must have one of them in the
/// field to meet a condition. Values that SQLite calls equal are one value here.
struct ValueRange: Hashable, Sendable {
  /// A position between values: before or after a value, or beyond all values.
  enum Edge: Hashable, Sendable, Comparable {
    case start
    case before(SortKey)
    case after(SortKey)
    case end

    static func < (left: Edge, right: Edge) -> Bool {
      switch (left, right) {
      case (_, .start), (.end, _): false
      case (.start, _), (_, .end): true
      case (.before(let left), .before(let right)), (.after(let left), .after(let right)),
        (.after(let left), .before(let right)):
        left < right
      case (.before(let left), .after(let right)): left <= right
      }
    }
  }

  /// The field's position in ``ModelSchema/fields``.
  let field: Int
  let collation: Collation
  var lower: Edge
  var upper: Edge

  /// Returns the position of a value of the field.
  ///
  /// - Parameter value: As the file stores it.
  static func place(of value: SQLValue, _ collation: Collation) -> SortKey {
    var encoder = SortKeyEncoder()
    encoder.encode(value, by: SortTerm(collation: collation))
    return SortKey(encoder)
  }

  /// Whether the range has both bounds.
  var isBounded: Bool { lower != .start && upper != .end }

  func contains(_ place: SortKey) -> Bool {
    lower <= .before(place) && .after(place) <= upper
  }

  /// Returns the values in both ranges, which are of the same field.
  func intersection(_ other: ValueRange) -> ValueRange {
    var both = self
    both.lower = max(lower, other.lower)
    both.upper = min(upper, other.upper)
    return both
  }
}

extension ValueRange {
  /// Creates the range in which `condition` can be true; nil if it restricts no single field.
  ///
  /// A bound is converted as the comparison would convert it. If only SQLite can do that, there is
  /// no range.
  init?(_ condition: Condition, schema: ModelSchema) {
    switch condition {
    case .isNull(.field(let field)):
      self.init(field, equalTo: [.null], schema)
    case .comparison(.field(let field), let comparison, .value(let value)):
      self.init(field, comparison, value, schema)
    case .comparison(.value(let value), let comparison, .field(let field)):
      self.init(field, comparison.mirrored, value, schema)
    case .between(.field(let field), .value(let lower), .value(let upper)):
      guard let low = ValueRange(field, .greaterOrEqual, lower, schema),
        let high = ValueRange(field, .lessOrEqual, upper, schema)
      else { return nil }
      self = low.intersection(high)
    case .isIn(.field(let field), let values):
      self.init(field, equalTo: values.filter { !$0.isNull }, schema)
    default:
      return nil
    }
  }

  private init?(
    _ field: Int, _ comparison: Condition.Comparison, _ value: SQLValue, _ schema: ModelSchema
  ) {
    if comparison != .isIdentical, value.isNull { return nil }
    guard let place = Self.place(of: value, in: field, schema),
      let null = Self.place(of: .null, in: field, schema)
    else { return nil }
    self.init(
      field: field, collation: schema.fields[field].collation, lower: .after(null), upper: .end)
    switch comparison {
    case .equal, .isIdentical: (lower, upper) = (.before(place), .after(place))
    case .less: upper = .before(place)
    case .lessOrEqual: upper = .after(place)
    case .greater: lower = .after(place)
    case .greaterOrEqual: lower = .before(place)
    case .notEqual, .isDistinct: return nil
    }
  }

  /// Creates the range from the least to the greatest of `values`.
  private init?(_ field: Int, equalTo values: [SQLValue], _ schema: ModelSchema) {
    var places: [SortKey] = []
    for value in values {
      guard let place = Self.place(of: value, in: field, schema) else { return nil }
      places.append(place)
    }
    guard let least = places.min(), let greatest = places.max() else { return nil }
    self.init(
      field: field, collation: schema.fields[field].collation, lower: .before(least),
      upper: .after(greatest))
  }

  private static func place(
    of value: SQLValue, in field: Int, _ schema: ModelSchema
  ) -> SortKey? {
    let field = schema.fields[field]
    guard schema.kind == .table, SortTerm(collation: field.collation).hasByteOrder,
      let value = ColumnAffinity(of: field)?.converted(value)
    else { return nil }
    return place(of: value, field.collation)
  }
}

extension Condition.Comparison {
  /// The equivalent operator with exchanged operands.
  fileprivate var mirrored: Condition.Comparison {
    switch self {
    case .equal, .notEqual, .isIdentical, .isDistinct: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }
}
