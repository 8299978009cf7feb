extension Condition {
  /// Patterns and texts are equal when their bytes are, as in SQLite. Swift's texts are equal more
  /// often.
  package static func == (left: Condition, right: Condition) -> Bool {
    // The switch is over the left side alone, because the compiler takes too long to check a switch
    // over pairs. So the compiler reports a missing new case here.
    switch left {
    case .constant(let value):
      if case .constant(value) = right { true } else { false }
    case .comparison(let operand, let comparison, let other):
      if case .comparison(operand, comparison, other) = right { true } else { false }
    case .isNull(let operand):
      if case .isNull(operand) = right { true } else { false }
    case .isNotNull(let operand):
      if case .isNotNull(operand) = right { true } else { false }
    case .isIn(let operand, let values):
      if case .isIn(operand, values) = right { true } else { false }
    case .between(let operand, let lower, let upper):
      if case .between(operand, lower: lower, upper: upper) = right { true } else { false }
    case .like(let operand, let pattern):
      if case .like(operand, let other) = right { pattern.isExactly(other) } else { false }
    case .glob(let operand, let pattern):
      if case .glob(operand, let other) = right { pattern.isExactly(other) } else { false }
    case .text(let operand, let place, let text):
      if case .text(operand, place, let other) = right { text.isExactly(other) } else { false }
    case .and(let parts):
      if case .and(parts) = right { true } else { false }
    case .or(let parts):
      if case .or(parts) = right { true } else { false }
    case .not(let part):
      if case .not(part) = right { true } else { false }
    case .sql(let text):
      if case .sql(text) = right { true } else { false }
    case .invalid(let field, let reason):
      if case .invalid(field, reason) = right { true } else { false }
    }
  }
}
