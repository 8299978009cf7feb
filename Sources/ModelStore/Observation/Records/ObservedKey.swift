/// The key of what a ``RecordObserver`` observes, in few bytes: most keys are one integer, which
/// needs no array.
enum ObservedKey: Sendable {
  /// All records of the model.
  case all
  case integer(Int64)
  case values([SQLValue])

  /// - Parameter key: One record's key, or nil for all records.
  init(_ key: [SQLValue]?) {
    guard let key else {
      self = .all
      return
    }
    if key.count == 1, case .integer(let value) = key[0] {
      self = .integer(value)
    } else {
      self = .values(key)
    }
  }

  /// One record's key as it was given, or nil for all records.
  var values: [SQLValue]? {
    switch self {
    case .all: nil
    case .integer(let value): [.integer(value)]
    case .values(let values): values
    }
  }

  var isAll: Bool {
    if case .all = self { true } else { false }
  }
}

extension KeyIdentity {
  /// Returns the same as for the values of `key`; nil for all records.
  func callAsFunction(observed key: ObservedKey) -> SortKey? {
    switch key {
    case .all: nil
    case .integer(let value): self(given: .integer(value))
    case .values(let values): self(given: values)
    }
  }
}
