/// The order of one value of a sort key, corresponding to one term of SQL's ORDER BY.
struct SortTerm: Hashable, Sendable {
  enum Direction: Hashable, Sendable {
    case ascending
    case descending
  }

  /// The position of NULL in the result, whatever the direction.
  enum NullPlacement: Hashable, Sendable {
    case first
    case last
  }

  let collation: Collation
  let direction: Direction
  let nulls: NullPlacement

  /// - Parameter nulls: `nil` for SQLite's own placement: NULL is the least value, so it comes
  ///   first in ascending and last in descending order
  ///   (https://sqlite.org/lang_select.html#orderby).
  init(
    collation: Collation = .binary,
    direction: Direction = .ascending,
    nulls: NullPlacement? = nil
  ) {
    self.collation = collation
    self.direction = direction
    self.nulls = nulls ?? (direction == .ascending ? .first : .last)
  }

  /// Whether a ``SortKey`` can express this term. Only the registered function knows the order of a
  /// custom collation, so a query with such a term is re-executed instead.
  var hasByteOrder: Bool {
    switch collation {
    case .binary, .nocase, .rtrim: true
    case .custom: false
    }
  }
}
