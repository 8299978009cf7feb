/// A condition compiled to a closure. For a record's values it returns exactly what SQLite would
/// for the stored row: affinity before comparison, collations, three-valued logic.
///
/// Use it for records that you already have, such as those of an event. To find records in the
/// store, use ``StoreQuery``. Raw SQL, custom collations, views, and comparisons whose conversion
/// depends on SQLite's version have no evaluator; only SQLite can evaluate them.
package struct ConditionEvaluator: Sendable {
  private let answer: Answer

  fileprivate typealias Answer = @Sendable ([SQLValue]) -> Bool?

  /// - Returns: nil when only SQLite can evaluate `condition`.
  package init?(_ condition: Condition, schema: ModelSchema) {
    // A view's columns are expressions, whose affinity the schema does not contain.
    guard schema.kind == .table else { return nil }
    guard let answer = Compiler(schema: schema).compile(condition) else { return nil }
    self.answer = answer
  }

  /// Returns true, false, or nil for unknown. A query selects the records for which it is true.
  ///
  /// - Parameter values: A record in field order, as stored: with the columns' affinities applied.
  /// - Precondition: One value for each field.
  /// - Complexity: O(size of the condition and of the texts that it compares).
  package func callAsFunction(_ values: [SQLValue]) -> Bool? {
    answer(values)
  }
}

private struct Compiler {
  let schema: ModelSchema

  typealias Answer = ConditionEvaluator.Answer
  typealias Reader = @Sendable ([SQLValue]) -> SQLValue

  func compile(_ condition: Condition) -> Answer? {
    switch condition {
    case .constant(let value):
      return { _ in value }
    case .comparison(let left, let comparison, let right):
      return compile(left, comparison, right)
    case .isNull(let operand):
      let read = reader(operand)
      return { read($0).isNull }
    case .isNotNull(let operand):
      let read = reader(operand)
      return { !read($0).isNull }
    case .isIn(let operand, let values):
      return compile(operand, in: values)
    case .between(let operand, let lower, let upper):
      guard let notBelow = compile(operand, .greaterOrEqual, lower),
        let notAbove = compile(operand, .lessOrEqual, upper)
      else { return nil }
      return { conjunction(notBelow($0), notAbove($0)) }
    case .like(let operand, let pattern):
      return compile(operand, matches: TextPattern(pattern, syntax: .like))
    case .glob(let operand, let pattern):
      return compile(operand, matches: TextPattern(pattern, syntax: .glob))
    case .text(let operand, let place, let wanted):
      return compile(operand) { place.holds(wanted, in: $0) }
    case .and(let parts):
      guard let answers = compileAll(parts) else { return nil }
      if let range = numberRange(parts, answers) { return range }
      return { values in
        var result: Bool? = true
        for answer in answers {
          result = conjunction(result, answer(values))
          if result == false { break }
        }
        return result
      }
    case .or(let parts):
      guard let answers = compileAll(parts) else { return nil }
      return { values in
        var result: Bool? = false
        for answer in answers {
          result = disjunction(result, answer(values))
          if result == true { break }
        }
        return result
      }
    case .not(let part):
      guard let answer = compile(part) else { return nil }
      return { values in answer(values).map { !$0 } }
    case .sql, .invalid:
      return nil
    }
  }

  /// Compiles two comparisons of one field with numbers, as of a range, to one closure. It calls
  /// `answers` for values other than integers.
  private func numberRange(_ parts: [Condition], _ answers: [Answer]) -> Answer? {
    guard parts.count == 2,
      case .comparison(.field(let field), let first, .value(let left)) = parts[0],
      case .comparison(.field(field), let second, .value(let right)) = parts[1],
      case .integer(let leftNumber)? = converted(left, for: field)?.0,
      case .integer(let rightNumber)? = converted(right, for: field)?.0
    else { return nil }
    return { values in
      guard case .integer(let value) = values[field] else {
        return conjunction(answers[0](values), answers[1](values))
      }
      return first.accepts(value < leftNumber ? -1 : value > leftNumber ? 1 : 0)
        && second.accepts(value < rightNumber ? -1 : value > rightNumber ? 1 : 0)
    }
  }

  private func compileAll(_ parts: [Condition]) -> [Answer]? {
    var answers: [Answer] = []
    for part in parts {
      guard let answer = compile(part) else { return nil }
      answers.append(answer)
    }
    return answers
  }

  private func reader(_ operand: Condition.Operand) -> Reader {
    switch operand {
    case .field(let index): { $0[index] }
    case .value(let value): { _ in value }
    }
  }

  private func compile(
    _ left: Condition.Operand, _ comparison: Condition.Comparison, _ right: Condition.Operand
  ) -> Answer? {
    guard let (left, right, order) = converted(left, right) else { return nil }
    if case .field(let field) = left, case .value(.integer(let number)) = right {
      return compile(field, comparison, number, order)
    }
    let (readLeft, readRight) = (reader(left), reader(right))
    switch comparison {
    case .isIdentical, .isDistinct:
      // NULL equals only NULL here, which is also its order.
      return { comparison.accepts(order.compare(readLeft($0), readRight($0))) }
    default:
      return { values in
        let (leftValue, rightValue) = (readLeft(values), readRight(values))
        if leftValue.isNull || rightValue.isNull { return nil }
        return comparison.accepts(order.compare(leftValue, rightValue))
      }
    }
  }

  /// Compares a field with a number, the most frequent comparison, with fewer calls.
  private func compile(
    _ field: Int, _ comparison: Condition.Comparison, _ number: Int64, _ order: ValueOrder
  ) -> Answer {
    let isUnknownForNull = comparison != .isIdentical && comparison != .isDistinct
    return { values in
      switch values[field] {
      case .integer(let value):
        comparison.accepts(value < number ? -1 : value > number ? 1 : 0)
      case .null where isUnknownForNull: nil
      case let value: comparison.accepts(order.compare(value, .integer(number)))
      }
    }
  }

  /// Returns the operands with constants converted as the comparison would, and the order to
  /// compare by; nil when only SQLite can do that.
  private func converted(
    _ left: Condition.Operand, _ right: Condition.Operand
  ) -> (Condition.Operand, Condition.Operand, ValueOrder)? {
    switch (left, right) {
    case (.field(let leftIndex), .field(let rightIndex)):
      guard let affinity = ColumnAffinity(of: schema.fields[leftIndex]),
        let other = ColumnAffinity(of: schema.fields[rightIndex]),
        // Comparing a number with a text would convert each row's text.
        affinity.isNumeric == other.isNumeric,
        let order = ValueOrder(schema.fields[leftIndex].collation)
      else { return nil }
      return (left, right, order)
    case (.field(let index), .value(let value)):
      guard let (value, order) = converted(value, for: index) else { return nil }
      return (left, .value(value), order)
    case (.value(let value), .field(let index)):
      guard let (value, order) = converted(value, for: index) else { return nil }
      return (.value(value), right, order)
    case (.value, .value):
      guard let order = ValueOrder(.binary) else { return nil }
      return (left, right, order)
    }
  }

  private func converted(_ value: SQLValue, for index: Int) -> (SQLValue, ValueOrder)? {
    guard let affinity = ColumnAffinity(of: schema.fields[index]),
      let value = affinity.converted(value),
      let order = ValueOrder(schema.fields[index].collation)
    else { return nil }
    return (value, order)
  }

  private func compile(_ operand: Condition.Operand, in values: [SQLValue]) -> Answer? {
    var candidates: [SQLValue] = []
    var hasNull = false
    var order = ValueOrder(.binary)
    if case .field(let index) = operand { order = ValueOrder(schema.fields[index].collation) }
    guard let order else { return nil }
    for value in values {
      if value.isNull {
        hasNull = true
      } else if case .field(let index) = operand {
        guard let (value, _) = converted(value, for: index) else { return nil }
        candidates.append(value)
      } else {
        candidates.append(value)
      }
    }
    if values.isEmpty { return { _ in false } }
    // Sorted, so that a long list costs a binary search for each record.
    let sorted = candidates.sorted { order.compare($0, $1) < 0 }
    let (read, missing) = (reader(operand), hasNull ? nil : Optional(false))
    return { values in
      let value = read(values)
      if value.isNull { return nil }
      var (low, high) = (0, sorted.count)
      while low < high {
        let middle = (low + high) / 2
        let step = order.compare(sorted[middle], value)
        if step == 0 { return true }
        if step < 0 { low = middle + 1 } else { high = middle }
      }
      return missing
    }
  }

  private func compile(_ operand: Condition.Operand, matches pattern: TextPattern?) -> Answer? {
    guard let pattern else { return nil }
    return compile(operand, pattern.matches)
  }

  /// What `test` says of the operand as text.
  private func compile(
    _ operand: Condition.Operand, _ test: @escaping @Sendable (String) -> Bool
  ) -> Answer? {
    if mayHoldReal(operand) { return nil }
    let read = reader(operand)
    return { values in
      switch read(values) {
      case .null: nil
      case .integer(let number): test(String(number))
      case .text(let text): test(text)
      // SQLITE_LIKE_DOESNT_MATCH_BLOBS: https://sqlite.org/compile.html#like_doesnt_match_blobs
      case .blob: false
      case .real: nil
      }
    }
  }

  /// Returns whether the operand can be a real, whose text form differs between SQLite's versions.
  private func mayHoldReal(_ operand: Condition.Operand) -> Bool {
    switch operand {
    case .value(let value): return value.storageClass == .real
    case .field(let index):
      let field = schema.fields[index]
      // A table that is not STRICT stores 1.5 in an INTEGER column too.
      let isStrict = field.declaredType == nil
      return switch ColumnAffinity(of: field) {
      case .text: false
      case .integer: !isStrict
      case .blob: !(isStrict && field.type == .blob)
      case .real, .numeric, nil: true
      }
    }
  }
}

extension Condition.Comparison {
  /// Returns whether the operator is true for a comparison's sign.
  fileprivate func accepts(_ sign: Int) -> Bool {
    switch self {
    case .equal, .isIdentical: sign == 0
    case .notEqual, .isDistinct: sign != 0
    case .less: sign < 0
    case .lessOrEqual: sign <= 0
    case .greater: sign > 0
    case .greaterOrEqual: sign >= 0
    }
  }
}

@Sendable
private func conjunction(_ left: Bool?, _ right: Bool?) -> Bool? {
  if left == false || right == false { return false }
  return left == nil || right == nil ? nil : true
}

@Sendable
private func disjunction(_ left: Bool?, _ right: Bool?) -> Bool? {
  if left == true || right == true { return true }
  return left == nil || right == nil ? nil : false
}
