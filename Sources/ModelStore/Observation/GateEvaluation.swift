/// Makes one verdict of the values that a gate's conditions find.
struct GateEvaluation: Sendable {
  let conditions: [GateCondition]
  let reduction: Gate.Reduction
  /// Asked last, over all values.
  let overall: (@Sendable ([any Sendable]) -> Bool)?

  /// - Parameters:
  ///   - values: By condition; nil for what is not there, which meets no condition.
  ///   - changed: The conditions whose values are new, ascending: they are evaluated first.
  func verdict(on values: [(any Sendable)?], changed: [Int]) -> Gate.Verdict {
    let deciding = conditions.indices.filter { conditions[$0].test != nil }
    let order = changed + conditions.indices.filter { !changed.contains($0) }
    var count = Count(conditions: deciding.map { conditions[$0] })
    var results: [Int: Bool] = [:]
    var failed: Gate.Verdict.Failure?
    for index in order {
      guard let test = conditions[index].test else { continue }
      if decided(count) != nil { break }
      let isMet = values[index].map(test) ?? false
      results[index] = isMet
      count.note(isMet, weight: conditions[index].weight)
      if !isMet, failed == nil {
        failed = Gate.Verdict.Failure(
          name: conditions[index].name, message: conditions[index].message)
      }
    }
    var isValid = decided(count) ?? false
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
    return Gate.Verdict(
      isValid: isValid, failed: failed, changed: changed.map { conditions[$0].name })
  }

  /// How many conditions were met so far, and what the rest can still bring.
  private struct Count {
    var met = 0
    var failed = 0
    var waiting: Int
    var metWeight = 0.0
    var waitingWeight: Double

    init(conditions: [GateCondition]) {
      waiting = conditions.count
      waitingWeight = conditions.reduce(0) { $0 + $1.weight }
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

  /// The result, once the conditions not yet evaluated cannot change it.
  private func decided(_ count: Count) -> Bool? {
    switch reduction {
    case .all: count.failed > 0 ? false : count.waiting == 0 ? true : nil
    case .any: count.met > 0 ? true : count.waiting == 0 ? false : nil
    case .atLeast(let number):
      count.met >= number ? true : count.met + count.waiting < number ? false : nil
    case .weight(let weight):
      if count.metWeight >= weight {
        true
      } else if count.waiting == 0 || count.metWeight + count.waitingWeight < weight {
        false
      } else {
        nil
      }
    case .custom: count.waiting == 0 ? false : nil
    }
  }
}
