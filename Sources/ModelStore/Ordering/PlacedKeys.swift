/// Reads a record's key from the end of its sort key, where it is stored exactly. Then the key need
/// not be kept beside the sort key.
struct PlacedKeys: Sendable {
  private let terms: [SortTerm]
  private let keyCount: Int

  /// - Parameter terms: The order, without the terms of the key.
  /// - Returns: nil if two different keys may have the same sort key. For example, a column with
  ///   reals and integers may hold 1 and 1.0.
  init?(_ schema: ModelSchema, orderedBy terms: [SortTerm]) {
    let keys = schema.keyIndices.map { schema.fields[$0] }
    guard !keys.isEmpty, keys.allSatisfy(Self.isExact) else { return nil }
    self.terms = terms
    keyCount = keys.count
  }

  /// Whether no number in the field's column is a real. A STRICT column of integers has no reals,
  /// and a column of texts or blobs has no numbers at all.
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
