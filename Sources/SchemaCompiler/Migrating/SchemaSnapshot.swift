/// The application's tables, views, indexes and triggers in a file at one moment. What SQLite and
/// the store keep for themselves is not included, except the indexes that models declare.
package struct SchemaSnapshot: Sendable {
  /// Tables and virtual tables, by name.
  package let tables: [TableFacts]
  /// The objects with a text, in the order of creation.
  package let texts: [SchemaText]

  /// - Parameters:
  ///   - catalog: All tables of the file.
  ///   - texts: The rows of `sqlite_schema`, in the order of creation.
  package init(_ catalog: Catalog, texts: [SchemaText]) {
    let names = Set(catalog.tables.filter { $0.kind == .shadow }.map { ExactText($0.name) })
    tables = catalog.tables.filter {
      ($0.kind == .table || $0.kind == .virtual) && !Self.isOfSystem($0.name)
    }
    self.texts = texts.filter { text in
      !text.sql.isEmpty && !Self.isOfSystem(text.name) && !names.contains(ExactText(text.table))
    }
  }

  /// Returns whether SQLite or the store itself keeps the object called `name`.
  package static func isOfSystem(_ name: String) -> Bool {
    name.hasPrefix("_ms_") && !name.hasPrefix(ModelSchema.referenceIndexPrefix)
      || name.hasPrefix("sqlite_")
  }

  package func table(named name: String) -> TableFacts? {
    let folded = name.asciiFolded
    return tables.first { $0.name.asciiFolded == folded }
  }

  /// Returns the text of the object of that kind and name.
  package func text(_ type: String, named name: String) -> SchemaText? {
    let folded = name.asciiFolded
    return texts.first { $0.type == type && $0.name.asciiFolded == folded }
  }

  /// The schema as a script that creates it: each table with its indexes and triggers, then the
  /// views. Tables and views are in the order of names, columns in that of the table.
  package var script: String { script { _ in true } }

  /// As ``script``, for some of the objects.
  package func script(of isIncluded: (SchemaText) -> Bool) -> String {
    let byName: (SchemaText, SchemaText) -> Bool = { first, second in
      (first.name.asciiFolded, first.name) < (second.name.asciiFolded, second.name)
    }
    let owners = texts.filter { $0.type == "table" }.sorted(by: byName)
    let views = texts.filter { $0.type == "view" }.sorted(by: byName)
    let ordered = (owners + views).flatMap { owner in
      // Triggers of one table run in the reverse order of creation, so this order is kept.
      [owner]
        + texts.filter { $0.type == "index" && $0.isPart(of: owner) }.sorted(by: byName)
        + texts.filter { $0.type == "trigger" && $0.isPart(of: owner) }
    }
    return ordered.filter(isIncluded).map { $0.statement + "\n" }.joined(separator: "\n")
  }
}

extension SchemaText {
  /// The text as a statement of a script.
  package var statement: String { SQLTokens.terminated(sql) }

  /// Whether it is an index or trigger of the table or view `owner`.
  package func isPart(of owner: SchemaText) -> Bool {
    table.asciiFolded == owner.name.asciiFolded
  }

  /// The text with one space between tokens and without quotes around names, which ALTER TABLE
  /// adds.
  package var canonical: String { SQLTokens.canonical(sql) }
}
