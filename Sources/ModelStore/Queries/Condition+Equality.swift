extension Condition {
  /// Patterns are equal when their bytes are, as in SQLite; Swift's texts are equal more often.
  public static func == (left: Condition, right: Condition) -> Bool {
    switch (left, right) {
    case (.constant(let left), .constant(let right)): left == right
    case (
      .comparison(let left, let operation, let operand),
      .comparison(let otherLeft, let otherOperation, let otherOperand)
    ):
      left == otherLeft && operation == otherOperation && operand == otherOperand
    case (.isNull(let left), .isNull(let right)): left == right
    case (.isNotNull(let left), .isNotNull(let right)): left == right
    case (.isIn(let left, let values), .isIn(let right, let others)):
      left == right && values == others
    case (
      .between(let left, let lower, let upper), .between(let right, let otherLower, let otherUpper)
    ):
      left == right && lower == otherLower && upper == otherUpper
    case (.like(let left, let pattern), .like(let right, let other)),
      (.glob(let left, let pattern), .glob(let right, let other)):
      left == right && pattern.isExactly(other)
    case (.and(let left), .and(let right)), (.or(let left), .or(let right)): left == right
    case (.not(let left), .not(let right)): left == right
    case (.sql(let left), .sql(let right)): left == right
    case (.invalid(let left, let reason), .invalid(let right, let other)):
      left == right && reason == other
    default: false
    }
  }
}
