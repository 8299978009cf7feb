/// Determines which keys of a model name the same record, as the key's columns compare them. For
/// example, `'abc'` and `'ABC'` are one record if the key's collation is NOCASE.
///
/// Only SQLite can compare by a custom collation. Its texts count as equal here when their bytes
/// are equal.
struct KeyIdentity: Hashable, Sendable {
  private let terms: [SortTerm]
  private let affinities: [ColumnAffinity?]

  init(_ schema: ModelSchema) {
    self.init(schema.keyIndices.map { schema.fields[$0] })
  }

  /// Creates the identity for fields that refer to the key of a model.
  init(_ fields: [FieldSchema]) {
    terms = fields.map { field in
      let term = SortTerm(collation: field.collation)
      return term.hasByteOrder ? term : SortTerm()
    }
    affinities = fields.map { ColumnAffinity(of: $0) }
  }

  /// Returns a value that is equal for keys that name the same record.
  ///
  /// - Parameter key: The key's values as the file stores them.
  /// - Precondition: It has as many values as the key has fields.
  func callAsFunction(stored key: [SQLValue]) -> RecordIdentity {
    terms.count == 1 && key.count == 1
      ? self(stored: key[0]) : .encoded(SortKey(values: key, terms: terms, key: []))
  }

  /// As for a stored key, after the conversion that the columns apply in comparisons.
  func callAsFunction(given key: [SQLValue]) -> RecordIdentity {
    precondition(key.count == affinities.count, "A key has one value for each field.")
    guard key.count > 1 else { return self(given: key[0]) }
    return self(
      stored: zip(key, affinities).map { value, affinity in
        affinity?.converted(value) ?? value
      })
  }

  /// As for a stored key, for a key of one value.
  func callAsFunction(stored value: SQLValue) -> RecordIdentity {
    precondition(terms.count == 1, "A key of \(terms.count) values is not one value.")
    switch value {
    case .integer(let number): return .integer(number)
    // Numbers are compared by value, whatever their type.
    case .real(let number) where Int64(exactly: number) != nil: return .integer(Int64(number))
    default: break
    }
    var encoder = SortKeyEncoder()
    encoder.encode(value, by: terms[0])
    return .encoded(SortKey(encoder))
  }

  /// As for a given key, for a key of one value.
  func callAsFunction(given value: SQLValue) -> RecordIdentity {
    precondition(terms.count == 1, "A key of \(terms.count) values is not one value.")
    return self(stored: affinities[0]?.converted(value) ?? value)
  }
}

extension KeyIdentity {
  /// As for a stored key, for the key of a changed record.
  ///
  /// - Returns: nil if the key has another number of values than the model's key has fields. Then
  ///   no key finds the record. For example, if a value is NULL, the rowid follows the values.
  func callAsFunction(changed key: RecordKey) -> RecordIdentity? {
    switch key {
    case .integer(let value): terms.count == 1 ? self(stored: .integer(value)) : nil
    case .values(let values): values.count == terms.count ? self(stored: values) : nil
    }
  }

  /// As for a given key, for the key of an observed record.
  func callAsFunction(observed key: RecordKey) -> RecordIdentity {
    switch key {
    case .integer(let value): self(given: .integer(value))
    case .values(let values): self(given: values)
    }
  }
}
