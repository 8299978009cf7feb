/// The parts of the file that a query reads: its table, the columns that decide membership and
/// order, and values that every record of the result must have. It answers whether a change may
/// affect the result, before anything is evaluated. "No" is certain; after "yes", the result may
/// still be unchanged.
package struct QueryRegion: Hashable, Sendable {
  /// A field with the same value in every record of the result.
  package struct EqualityTerm: Hashable, Sendable {
    /// The field's position in ``ModelSchema/fields``.
    package let field: Int
    /// The value, after ``QueryRegion/normalized(_:)``.
    package let value: SQLValue
  }

  /// The table or view that the query reads.
  package let table: String
  /// The fields that decide whether a record belongs to the result, by position.
  package let filterColumns: Set<Int>
  /// The fields that decide the position of a record in the result, by position, including those of
  /// the key.
  package let orderColumns: Set<Int>
  /// The fields that the query returns, by position.
  package let resultColumns: Set<Int>
  /// Values that every record of the result has, from the parts of the condition joined by AND.
  /// Only fields that compare as ``Collation/binary`` can be looked up by value and are included.
  package let equalityTerms: [EqualityTerm]
  /// The ranges of values to which the condition restricts fields, by field.
  let ranges: [ValueRange]
  /// Whether raw SQL in the condition may read anything in the file, other tables included.
  package let readsWholeFile: Bool

  /// Creates the region that `query` reads.
  package init<Element>(_ query: StoreQuery<Element>) {
    let schema = query.schema
    table = schema.table
    let readsWholeFile = query.condition?.containsSQL == true
    self.readsWholeFile = readsWholeFile || schema.kind == .view
    filterColumns =
      readsWholeFile ? Set(schema.fields.indices) : query.condition?.fieldIndices ?? []
    orderColumns = Set(query.totalOrderings.map(\.fieldIndex))
    resultColumns = Set(schema.fields.indices)
    var terms: [EqualityTerm] = []
    for part in query.condition?.conjuncts ?? [] {
      if let term = EqualityTerm(part, schema: schema), !terms.contains(term) { terms.append(term) }
    }
    equalityTerms = terms
    var ranges: [Int: ValueRange] = [:]
    for part in query.condition?.conjuncts ?? [] {
      guard let range = ValueRange(part, schema: schema) else { continue }
      ranges[range.field] = ranges[range.field]?.intersection(range) ?? range
    }
    self.ranges = ranges.values.sorted { $0.field < $1.field }
  }

  /// All fields that the query reads.
  package var columns: Set<Int> {
    filterColumns.union(orderColumns).union(resultColumns)
  }

  /// Returns whether a record with `values`, in field order, can be in the result at all.
  package func admits(_ values: [SQLValue]) -> Bool {
    equalityTerms.allSatisfy { Self.normalized(values[$0.field]) == $0.value }
  }

  /// Returns the value as a lookup key: numbers that SQLite calls equal become the same value, so a
  /// whole real becomes an integer.
  package static func normalized(_ value: SQLValue) -> SQLValue {
    if case .real(let number) = value, let whole = Int64(exactly: number) {
      return .integer(whole)
    }
    return value
  }
}

extension QueryRegion.EqualityTerm {
  /// Creates the term that `condition` requires; nil when it requires none that can be looked up.
  init?(_ condition: Condition, schema: ModelSchema) {
    let index: Int
    let wanted: SQLValue
    switch condition {
    case .isNull(.field(let field)):
      (index, wanted) = (field, .null)
    case .comparison(.field(let field), .isIdentical, .value(let value)),
      .comparison(.value(let value), .isIdentical, .field(let field)):
      (index, wanted) = (field, value)
    case .comparison(.field(let field), .equal, .value(let value)),
      .comparison(.value(let value), .equal, .field(let field)):
      // `= NULL` is true for no record, and the condition itself already handles that.
      if value.isNull { return nil }
      (index, wanted) = (field, value)
    case .isIn(.field(let field), let values) where values.count == 1 && !values[0].isNull:
      (index, wanted) = (field, values[0])
    default:
      return nil
    }
    guard schema.kind == .table, schema.fields[index].collation == .binary,
      let affinity = ColumnAffinity(of: schema.fields[index]),
      let stored = affinity.converted(wanted)
    else { return nil }
    self.init(field: index, value: QueryRegion.normalized(stored))
  }
}
