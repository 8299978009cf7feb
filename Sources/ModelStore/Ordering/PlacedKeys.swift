/// Reads a record's key from the end of its place in an order, where the place tells it exactly;
/// then nobody has to keep the key beside the place.
struct PlacedKeys: Sendable {
  private let terms: [SortTerm]
  private let keyCount: Int

  /// - Parameter terms: The order, the key's own terms aside.
  /// - Returns: nil where two keys that differ may have the same place: a column that holds reals
  ///   and integers may hold 1 and 1.0.
  init?(_ schema: ModelSchema, orderedBy terms: [SortTerm]) {
    let keys = schema.keyIndices.map { schema.fields[$0] }
    guard !keys.isEmpty, keys.allSatisfy(Self.isExact) else { return nil }
    self.terms = terms
    keyCount = keys.count
  }

  /// Whether no number in the field's column is a real: a STRICT column of integers has none, and
  /// one of texts or blobs no numbers at all.
  private static func isExact(_ field: FieldSchema) -> Bool {
    let isStrict = field.declaredType == nil
    return switch ColumnAffinity(of: field) {
    case .integer: isStrict
    case .text: true
    case .blob: isStrict && field.type == .blob
    case .real, .numeric, nil: false
    }
  }

  func key(in place: SortKey) -> [SQLValue] {
    var decoder = SortKeyDecoder(place)
    for term in terms { decoder.skip(term) }
    return (0..<keyCount).map { _ in decoder.next() }
  }
}
