/// A condition over one model's fields, as a value: the closed grammar that SQL, live queries and
/// the command line share.
///
/// Fields are named by their position in ``ModelSchema/fields``. It is not typed: models build it
/// through ``StoreQuery/Predicate``, text through ``PredicateParser``.
///
/// The logic is SQL's, with three values. A comparison with NULL is neither true nor false but
/// unknown, `NOT unknown` is unknown, and a record is selected only when its condition is true.
/// See <https://sqlite.org/lang_expr.html>.
package indirect enum Condition: Hashable, Sendable {
  /// True, false, or unknown for nil.
  case constant(Bool?)
  case comparison(Operand, Comparison, Operand)
  case isNull(Operand)
  case isNotNull(Operand)
  /// Equal to one of the values. NULL in the list equals nothing and makes "not found" unknown;
  /// an empty list is false even for NULL.
  case isIn(Operand, [SQLValue])
  /// Not below the first and not above the second bound.
  case between(Operand, lower: Operand, upper: Operand)
  /// `%` matches any text, `_` one character; the 26 ASCII letters match in either case. A blob
  /// never matches.
  case like(Operand, pattern: String)
  /// `*`, `?` and `[a-z]`, case included. A blob never matches.
  case glob(Operand, pattern: String)
  /// Whether a text has another at a place, byte for byte. A blob never has.
  case text(Operand, TextPlace, String)
  /// All of the conditions; true for none.
  case and([Condition])
  /// At least one of the conditions; false for none.
  case or([Condition])
  case not(Condition)
  /// An SQL expression over the model's columns. Only SQLite can evaluate it.
  case sql(SQLText)
  /// A comparison that cannot be made, because its value cannot be stored or its field does not
  /// support it. Every use of the condition throws `reason`, so the condition is never ignored.
  case invalid(field: Int, reason: String)

  /// What a comparison reads.
  package enum Operand: Hashable, Sendable {
    case field(Int)
    case value(SQLValue)
  }

  /// The comparison operators; the raw value is SQL's spelling.
  package enum Comparison: String, Hashable, Sendable, CaseIterable {
    case equal = "="
    case notEqual = "<>"
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    /// As `=`, but NULL is NULL: never unknown.
    case isIdentical = "IS"
    /// As `<>`, but NULL is not NULL is false: never unknown.
    case isDistinct = "IS NOT"

    /// Whether the operator depends on the order of values, not only on their equality.
    package var needsOrder: Bool {
      switch self {
      case .less, .lessOrEqual, .greater, .greaterOrEqual: true
      case .equal, .notEqual, .isIdentical, .isDistinct: false
      }
    }
  }

  /// Returns the conjunction of both conditions, without nesting `AND`s.
  package func and(_ other: Condition) -> Condition {
    .and(conjuncts + other.conjuncts)
  }

  /// Returns the disjunction of both conditions, without nesting `OR`s.
  package func or(_ other: Condition) -> Condition {
    .or(disjuncts + other.disjuncts)
  }

  /// The conditions that must all be true for this one to be true.
  package var conjuncts: [Condition] {
    if case .and(let parts) = self { parts } else { [self] }
  }

  private var disjuncts: [Condition] {
    if case .or(let parts) = self { parts } else { [self] }
  }

  /// The positions of the fields that the condition names. Raw SQL may read others, which are not
  /// included.
  package var fieldIndices: Set<Int> {
    var indices: Set<Int> = []
    forEachLeaf { leaf in
      for case .field(let index) in leaf.operands { indices.insert(index) }
      if case .invalid(let index, _) = leaf { indices.insert(index) }
    }
    return indices
  }

  /// Whether a part of the condition is raw SQL.
  package var containsSQL: Bool {
    var found = false
    forEachLeaf { leaf in
      if case .sql = leaf { found = true }
    }
    return found
  }

  /// Why the condition cannot be used, or nil when it can.
  var problem: (field: Int, reason: String)? {
    var found: (field: Int, reason: String)?
    forEachLeaf { leaf in
      if case .invalid(let field, let reason) = leaf, found == nil { found = (field, reason) }
    }
    return found
  }

  /// Calls `body` with each part that is not AND, OR or NOT, from left to right.
  private func forEachLeaf(_ body: (Condition) -> Void) {
    switch self {
    case .and(let parts), .or(let parts):
      for part in parts { part.forEachLeaf(body) }
    case .not(let part):
      part.forEachLeaf(body)
    default:
      body(self)
    }
  }

  private var operands: [Operand] {
    switch self {
    case .comparison(let left, _, let right): [left, right]
    case .between(let operand, let lower, let upper): [operand, lower, upper]
    case .isNull(let operand), .isNotNull(let operand), .isIn(let operand, _),
      .like(let operand, _), .glob(let operand, _), .text(let operand, _, _):
      [operand]
    case .constant, .and, .or, .not, .sql, .invalid: []
    }
  }
}
