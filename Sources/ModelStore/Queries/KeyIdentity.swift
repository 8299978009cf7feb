/// Which keys of a model name the same record, as the key's columns compare them: `'abc'` and
/// `'ABC'` are one record where the key's collation is NOCASE.
///
/// A collation of the program's own is known to SQLite only; its texts count as equal when their
/// bytes are.
struct KeyIdentity: Hashable, Sendable {
  private let terms: [SortTerm]
  private let affinities: [ColumnAffinity?]

  init(_ schema: ModelSchema) {
    self.init(schema.keyIndices.map { schema.fields[$0] })
  }

  /// For fields that refer to the key of a model.
  init(_ fields: [FieldSchema]) {
    terms = fields.map { field in
      let term = SortTerm(collation: field.collation)
      return term.hasByteOrder ? term : SortTerm()
    }
    affinities = fields.map { ColumnAffinity(of: $0) }
  }

  /// Equal for keys that name the same record.
  ///
  /// - Parameter key: The key's values as the file stores them.
  func callAsFunction(stored key: [SQLValue]) -> SortKey {
    SortKey(values: key, terms: terms, key: [])
  }

  /// As for a stored key, after the conversion that the columns apply to what they are compared
  /// with.
  func callAsFunction(given key: [SQLValue]) -> SortKey {
    SortKey(
      values: zip(key, affinities).map { value, affinity in
        affinity?.converted(value) ?? value
      }, terms: terms, key: [])
  }
}
