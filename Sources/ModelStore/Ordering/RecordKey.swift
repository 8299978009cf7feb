/// The key's values of one record, in few bytes: most keys are one integer, which needs no array.
enum RecordKey: Hashable, Sendable {
  case integer(Int64)
  case values([SQLValue])

  init(_ values: [SQLValue]) {
    if values.count == 1, case .integer(let value) = values[0] {
      self = .integer(value)
    } else {
      self = .values(values)
    }
  }

  /// The values as they were given.
  var values: [SQLValue] {
    switch self {
    case .integer(let value): [.integer(value)]
    case .values(let values): values
    }
  }
}
