extension BindingFinder {
  /// Returns the reason why a finder may match several records; nil if it cannot.
  ///
  /// A model declares which fields are unique, but not their collation. If an index distinguishes
  /// texts that its columns compare as equal, the finder matches several records.
  func problem(on connection: Connection) throws -> String? {
    guard !fields.contains(where: \.isRowID) else { return nil }
    let rows = try connection.rows(
      """
      SELECT i.name, c.name, c.coll
      FROM pragma_index_list(\(model.table), 'main') AS i
      JOIN pragma_index_xinfo(i.name, 'main') AS c ON c.key = 1
      WHERE i."unique" = 1 AND i.partial = 0
      """
    ) { row in
      (
        index: try row.text(at: 0), column: row.isNull(at: 1) ? nil : try row.text(at: 1),
        collation: try row.text(at: 2)
      )
    }
    var isTelling: [String: Bool] = [:]
    for (index, parts) in Dictionary(grouping: rows, by: \.index) {
      let matches = parts.map { part in
        fields.first { $0.column.asciiFolded == part.column?.asciiFolded }.map {
          $0.collation == .binary || $0.collation.name.asciiFolded == part.collation.asciiFolded
        }
      }
      guard !matches.contains(nil) else { continue }
      isTelling[index] = matches.allSatisfy { $0 == true }
    }
    guard !isTelling.isEmpty, !isTelling.values.contains(true) else { return nil }
    let list = fields.map { "\(model.name).\($0.name)" }.joined(separator: ", ")
    return "what makes \(list) unique compares texts by another collation than the table, so "
      + "several records may belong to one. Add a unique index without COLLATE."
  }
}
