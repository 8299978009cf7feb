/// The evaluation of a gate's conditions into one verdict.
struct GateEvaluation: Sendable {
  let conditions: [GateCondition]
  let reduction: Gate.Reduction
  /// Evaluated last, with all values.
  let overall: (@Sendable ([any Sendable]) -> Bool)?

  /// Evaluates the conditions.
  ///
  /// - Parameters:
  ///   - values: By condition; nil for a missing value, which meets no condition.
  ///   - changed: The conditions whose values are new, ascending. They are evaluated first.
  /// - Returns: The verdict, and the position of the failed condition that it names.
  func verdict(
    on values: [(any Sendable)?], changed: [Int]
  ) -> (verdict: Gate.Verdict, failed: Int?) {
    let deciding = conditions.indices.filter { conditions[$0].test != nil }
    let order = changed + conditions.indices.filter { !changed.contains($0) }
    var count = Count(conditions: deciding.map { conditions[$0] })
    var results: [Int: Bool] = [:]
    var failed: Int?
    for index in order {
      guard let test = conditions[index].test else { continue }
      if decided(count, results) != nil { break }
      let isMet = values[index].map(test) ?? false
      results[index] = isMet
      count.note(isMet, weight: conditions[index].weight)
      if !isMet, failed == nil { failed = index }
    }
    var isValid = decided(count, results) ?? false
    if case .custom(let reduce) = reduction {
      isValid = reduce(deciding.map { results[$0] ?? false })
    }
    if isValid {
      failed = nil
      if let overall {
        let present = values.compactMap(\.self)
        isValid = present.count == values.count && overall(present)
      }
    }
    let failure = failed.map { index in
      Gate.Verdict.Failure(name: conditions[index].name, message: conditions[index].message)
    }
    return (
      Gate.Verdict(
        isValid: isValid, failed: failure, changed: changed.map { conditions[$0].name }), failed
    )
  }

  /// The number of met and failed conditions so far, and of those not yet evaluated.
  private struct Count {
    var met = 0
    var failed = 0
    var waiting: Int
    var metWeight = 0.0
    var waitingWeight: Double
    /// The rounding difference that sums in another order may have.
    let slack: Double

    init(conditions: [GateCondition]) {
      waiting = conditions.count
      waitingWeight = conditions.reduce(0) { $0 + $1.weight }
      slack = 2 * Double(conditions.count) * .ulpOfOne * waitingWeight
    }

    mutating func note(_ isMet: Bool, weight: Double) {
      waiting -= 1
      waitingWeight -= weight
      if isMet {
        met += 1
        metWeight += weight
      } else {
        failed += 1
      }
    }
  }

  /// Returns the result once the remaining conditions cannot change it.
  private func decided(_ count: Count, _ results: [Int: Bool]) -> Bool? {
    switch reduction {
    case .all: count.failed > 0 ? false : count.waiting == 0 ? true : nil
    case .any: count.met > 0 ? true : count.waiting == 0 ? false : nil
    case .atLeast(let number):
      count.met >= number ? true : count.met + count.waiting < number ? false : nil
    case .weight(let weight):
      if count.waiting == 0 {
        // Summed in the order of declaration, so that the result does not depend on what changed
        // last.
        conditions.indices.reduce(0) { sum, index in
          results[index] == true ? sum + conditions[index].weight : sum
        } >= weight
      } else if count.metWeight >= weight + count.slack {
        true
      } else if count.metWeight + count.waitingWeight < weight - count.slack {
        false
      } else {
        nil
      }
    case .custom: count.waiting == 0 ? false : nil
    }
  }
}
