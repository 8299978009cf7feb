/// The contents of the file's schema: its tables, views and virtual tables, as SQLite's PRAGMAs and
/// `sqlite_schema` report them. Declared models are described by ``ModelSchema``;
/// ``SchemaDifference`` compares the two.
///
/// It is a snapshot, valid while the file's schema version equals `schemaVersion`.
package struct Catalog: Hashable, Sendable {
  package let schemaVersion: Int64
  /// Every table and view except `sqlite_schema` itself, sorted by name.
  package private(set) var tables: [TableFacts]
  private let positions: [ExactText: Int]

  package init(schemaVersion: Int64, tables: [TableFacts]) {
    self.schemaVersion = schemaVersion
    self.tables = tables.sorted { $0.name < $1.name }
    let names = self.tables.map { ExactText($0.name.asciiFolded) }
    positions = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
  }

  /// Returns the table or view called `name`, compared as SQLite compares names.
  package func table(named name: String) -> TableFacts? {
    positions[ExactText(name.asciiFolded)].map { tables[$0] }
  }

  /// Returns the catalog with `table` in place of the one with its name. Without such a table, the
  /// catalog is unchanged.
  package func replacing(_ table: TableFacts) -> Catalog {
    var catalog = self
    if let position = positions[ExactText(table.name.asciiFolded)] {
      catalog.tables[position] = table
    }
    return catalog
  }
}
