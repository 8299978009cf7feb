extension Condition {
  /// The depth of a condition in SQL, by SQLite's limits. It is an upper bound for the text of
  /// ``Condition/sqlText(schema:)``.
  struct Depth {
    /// The number of entries on the stack of SQLite's parser, which has one hundred:
    /// <https://sqlite.org/limits.html#max_parser_depth>.
    var parserStack: Int
    /// The height of the expression: <https://sqlite.org/limits.html#max_expr_depth>.
    var height: Int

    /// Whether SQLite accepts the condition in every statement that the store makes of a query. The
    /// longest, an explained UPDATE of a window's records, needs 20 entries of the stack itself.
    /// The remaining entries are for one more condition beside this one.
    var isReadable: Bool { parserStack <= 76 && height <= 900 }

    /// Returns the depth of this inside an expression that takes `parserStack` entries and `height`
    /// levels.
    fileprivate func inside(parserStack: Int, height: Int) -> Depth {
      Depth(parserStack: self.parserStack + parserStack, height: self.height + height)
    }

    fileprivate func union(_ other: Depth) -> Depth {
      Depth(
        parserStack: max(parserStack, other.parserStack), height: max(height, other.height))
    }
  }

  /// - Complexity: O(parts).
  var depth: Depth {
    switch self {
    case .constant, .comparison, .isNull, .isNotNull, .isIn, .between, .like, .glob, .sql, .invalid:
      // The deepest of them on the stack is a list, the highest a range.
      Depth(parserStack: 5, height: 3)
    case .text:
      Depth(parserStack: 10, height: 6)
    case .not(let part): part.depth.inside(parserStack: 2, height: 1)
    case .and(let parts), .or(let parts): Self.depth(of: parts[...])
    }
  }

  private static func depth(of parts: ArraySlice<Condition>) -> Depth {
    var depth = Depth(parserStack: 5, height: 3)
    if parts.count > chainLengthMax {
      let middle = parts.startIndex + parts.count / 2
      return self.depth(of: parts[..<middle]).inside(parserStack: 1, height: 1)
        .union(self.depth(of: parts[middle...]).inside(parserStack: 3, height: 1))
    }
    for (index, part) in parts.enumerated() {
      // `a AND b AND c` is `(a AND b) AND c`: the parser holds one operand and the operator, and
      // the first operand is deepest.
      depth = depth.union(
        part.depth.inside(
          parserStack: (index > 0 ? 2 : 0) + (part.isCompound ? 1 : 0),
          height: parts.count - max(index, 1)))
    }
    return depth
  }
}
