/// What the file contains: its tables, views and virtual tables, as SQLite's PRAGMAs and
/// `sqlite_schema` tell. Not what models declare: that is ``ModelSchema``.
/// ``SchemaDifference`` compares the two.
///
/// A value of one moment. It stays true while the file's schema version equals `schemaVersion`.
package struct Catalog: Hashable, Sendable {
  package let schemaVersion: Int64
  /// Every table and view but `sqlite_schema` itself, in the order of their names.
  package let tables: [TableFacts]
  private let positions: [ExactText: Int]

  package init(schemaVersion: Int64, tables: [TableFacts]) {
    self.schemaVersion = schemaVersion
    self.tables = tables.sorted { $0.name < $1.name }
    let names = self.tables.map { ExactText($0.name.asciiFolded) }
    positions = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
  }

  /// The table or view called `name`, compared as SQLite compares names.
  package func table(named name: String) -> TableFacts? {
    positions[ExactText(name.asciiFolded)].map { tables[$0] }
  }
}
