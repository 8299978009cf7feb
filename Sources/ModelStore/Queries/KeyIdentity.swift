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
  func callAsFunction(stored key: [SQLValue]) -> SortKey {
    SortKey(values: key, terms: terms, key: [])
  }

  /// As for a stored key, after the conversion that the columns apply in comparisons.
  func callAsFunction(given key: [SQLValue]) -> SortKey {
    SortKey(
      values: zip(key, affinities).map { value, affinity in
        affinity?.converted(value) ?? value
      }, terms: terms, key: [])
  }

  /// As for a stored key, for a key of one value.
  func callAsFunction(stored value: SQLValue) -> SortKey {
    precondition(terms.count == 1, "A key of \(terms.count) values is not one value.")
    var encoder = SortKeyEncoder()
    encoder.encode(value, by: terms[0])
    return SortKey(encoder)
  }

  /// As for a given key, for a key of one value.
  func callAsFunction(given value: SQLValue) -> SortKey {
    precondition(terms.count == 1, "A key of \(terms.count) values is not one value.")
    return self(stored: affinities[0]?.converted(value) ?? value)
  }
}
