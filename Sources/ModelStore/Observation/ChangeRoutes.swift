/// Finds those whom a change concerns without asking everyone: by model, by key, and by the value
/// of a field that all records they want have.
struct ChangeRoutes: Sendable {
  fileprivate typealias Numbers = [UInt64]

  fileprivate struct Routes: Sendable {
    /// Those who want every change of the model.
    var all: Numbers = []
    var identity: KeyIdentity?
    var ofRecord: [SortKey: Numbers] = [:]
    var ofValue: [Int: [SQLValue: Numbers]] = [:]
    /// How many read all fields, and how many others each field.
    var allFieldsCount = 0
    var fieldCounts: [Int: Int] = [:]

    var isEmpty: Bool { all.isEmpty && ofRecord.isEmpty && ofValue.isEmpty }
  }

  private var models: [String: Routes] = [:]

  /// For each observed model, the fields that somebody reads; nil for all.
  var interests: [String: Set<Int>?] {
    models.mapValues { $0.allFieldsCount > 0 ? nil : Set($0.fieldCounts.keys) }
  }

  /// - Returns: Whether ``interests`` is another now.
  mutating func add(_ number: UInt64, for interest: ChangeBroker.Interest) -> Bool {
    var routes = models.removeValue(forKey: interest.model) ?? Routes()
    switch interest.records {
    case .all:
      routes.all.append(number)
    case .one(let key, let identity):
      routes.identity = identity
      routes.ofRecord[key, default: []].append(number)
    case .having(let field, let value):
      routes.ofValue[field, default: [:]][value, default: []].append(number)
    }
    let isWider = routes.count(interest.fields, by: 1)
    models[interest.model] = routes
    return isWider
  }

  /// - Returns: Whether ``interests`` is another now.
  mutating func remove(_ number: UInt64, for interest: ChangeBroker.Interest) -> Bool {
    guard var routes = models.removeValue(forKey: interest.model) else { return false }
    switch interest.records {
    case .all:
      routes.all.removeAll { $0 == number }
    case .one(let key, _):
      routes.ofRecord.remove(number, from: key)
    case .having(let field, let value):
      var values = routes.ofValue.removeValue(forKey: field) ?? [:]
      values.remove(number, from: value)
      if !values.isEmpty { routes.ofValue[field] = values }
    }
    let isNarrower = routes.count(interest.fields, by: -1)
    if routes.isEmpty { return true }
    models[interest.model] = routes
    return isNarrower
  }

  /// Calls `body` once with the number of each observer whom `change` may concern.
  ///
  /// - Complexity: O(observers concerned + fields by whose values somebody is found).
  func forEachObserver(of change: RecordChange, _ body: (UInt64) -> Void) {
    guard let routes = models[change.model] else { return }
    for number in routes.all { body(number) }
    if let identity = routes.identity, !routes.ofRecord.isEmpty {
      for number in routes.ofRecord[identity(stored: change.key)] ?? [] { body(number) }
    }
    for (field, values) in routes.ofValue {
      let old = change.old.map { QueryRegion.normalized($0[field]) }
      let new = change.new.map { QueryRegion.normalized($0[field]) }
      if let old { for number in values[old] ?? [] { body(number) } }
      if let new, new != old { for number in values[new] ?? [] { body(number) } }
    }
  }
}

extension ChangeRoutes.Routes {
  /// Counts one reader of `fields` more or less.
  ///
  /// - Returns: Whether other fields are to be read now.
  fileprivate mutating func count(_ fields: Set<Int>?, by step: Int) -> Bool {
    guard let fields else {
      allFieldsCount += step
      return allFieldsCount == (step > 0 ? 1 : 0)
    }
    var changes = false
    for field in fields {
      let count = fieldCounts[field, default: 0] + step
      fieldCounts[field] = count > 0 ? count : nil
      if count == (step > 0 ? 1 : 0) { changes = true }
    }
    return changes && allFieldsCount == 0
  }
}

extension Dictionary where Value == [UInt64] {
  fileprivate mutating func remove(_ number: UInt64, from key: Key) {
    guard var numbers = removeValue(forKey: key) else { return }
    numbers.removeAll { $0 == number }
    if !numbers.isEmpty { self[key] = numbers }
  }
}
