/// A table, index or trigger by which a file itself keeps a rule, a binding or the change journal.
package struct SchemaObject: Hashable, Sendable {
  /// In the order in which objects are made. They are dropped the other way round, because triggers
  /// name tables.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case table, index, trigger
  }

  package let kind: Kind
  package let name: String
  /// Exactly as `sqlite_schema` holds it.
  package let sql: String
  /// The table to which it belongs, where it was read from a file.
  package var table = ""

  package init(kind: Kind, name: String, sql: String, table: String = "") {
    self.kind = kind
    self.name = name
    self.sql = sql
    self.table = table
  }

  /// What a file has once at most: SQLite lets a trigger have the name of an index or table.
  package struct Identity: Hashable, Sendable {
    package let kind: Kind
    package let name: ExactText
  }

  package var identity: Identity { Identity(kind: kind, name: ExactText(name)) }
}

/// The store's own objects that a file has, to be compared with those that it should have.
package struct InstalledObjects: Sendable {
  /// By name.
  package let objects: [SchemaObject]
  private let byIdentity: [SchemaObject.Identity: SchemaObject]

  package init(_ objects: [SchemaObject]) {
    self.objects = objects
    byIdentity = Dictionary(objects.map { ($0.identity, $0) }) { first, _ in first }
  }

  /// The object of that kind and name; nil when the file has none.
  package subscript(identity: SchemaObject.Identity) -> SchemaObject? { byIdentity[identity] }

  /// Whether the file has the object in the same words.
  package func holds(_ object: SchemaObject) -> Bool {
    self[object.identity]?.sql.isExactly(object.sql) ?? false
  }
}

/// How the objects in a file differ from those that it should have. Making one anew is dropping and
/// creating it.
package struct SchemaDrift: Hashable, Sendable {
  /// What is in the file and is not wanted, or not in these words, in the file's order.
  package var dropped: [SchemaObject] = []
  /// What is wanted and is not in the file in these words, in the order in which it was given.
  package var created: [SchemaObject] = []

  package var isEmpty: Bool { dropped.isEmpty && created.isEmpty }

  package init(dropped: [SchemaObject] = [], created: [SchemaObject] = []) {
    self.dropped = dropped
    self.created = created
  }

  /// - Parameter isConcerned: Which of the file's objects are compared; the others stay.
  package init(
    from wanted: [SchemaObject], to installed: InstalledObjects,
    where isConcerned: (SchemaObject) -> Bool = { _ in true }
  ) {
    let wantedObjects = InstalledObjects(wanted)
    dropped = installed.objects.filter { isConcerned($0) && !wantedObjects.holds($0) }
    created = wanted.filter { !installed.holds($0) }
  }
}
