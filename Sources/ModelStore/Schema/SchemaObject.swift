/// A table, index or trigger by which a file itself keeps a rule, a binding or the change journal.
struct SchemaObject: Hashable, Sendable {
  /// In the order in which objects are made. They are dropped the other way round, because triggers
  /// name tables.
  enum Kind: String, Hashable, Sendable, CaseIterable {
    case table, index, trigger
  }

  let kind: Kind
  let name: String
  /// Exactly as `sqlite_schema` holds it.
  let sql: String
  /// The table to which it belongs, where it was read from a file.
  var table = ""

  /// What a file has once at most: SQLite lets a trigger have the name of an index or table.
  struct Identity: Hashable, Sendable {
    let kind: Kind
    let name: ExactText
  }

  var identity: Identity { Identity(kind: kind, name: ExactText(name)) }

  /// Drops `objects`, triggers first.
  ///
  /// - Precondition: A write transaction is open.
  static func drop(_ objects: [SchemaObject], from connection: Connection) throws {
    for kind in Kind.allCases.reversed() {
      for object in objects where object.kind == kind {
        try connection.execute(
          "DROP \(kind.rawValue.uppercased()) \(SQLText.quoted(object.name))")
      }
    }
  }
}

/// The store's own objects that a file has, to be compared with those that it should have.
struct InstalledObjects: Sendable {
  /// By name.
  let objects: [SchemaObject]
  private let byIdentity: [SchemaObject.Identity: SchemaObject]

  init(_ objects: [SchemaObject]) {
    self.objects = objects
    byIdentity = Dictionary(objects.map { ($0.identity, $0) }) { first, _ in first }
  }

  /// Reads those whose names begin with one of `prefixes`, which only the store gives.
  init(namedWith prefixes: [String], in connection: Connection) throws {
    let condition = prefixes.map { _ in "instr(name, ?) = 1" }.joined(separator: " OR ")
    let query = SQLText(
      sql: """
        SELECT type, name, sql, tbl_name FROM sqlite_schema
        WHERE sql IS NOT NULL AND (\(condition)) ORDER BY name
        """, arguments: prefixes.map { .text($0) })
    let objects = try connection.rows(query) { row in
      try SchemaObject.Kind(rawValue: row.text(at: 0)).map { kind in
        SchemaObject(
          kind: kind, name: try row.text(at: 1), sql: try row.text(at: 2),
          table: try row.text(at: 3))
      }
    }
    self.init(objects.compactMap(\.self))
  }

  /// The object of that kind and name; nil when the file has none.
  subscript(identity: SchemaObject.Identity) -> SchemaObject? { byIdentity[identity] }

  /// Whether the file has the object in the same words.
  func holds(_ object: SchemaObject) -> Bool {
    self[object.identity]?.sql.isExactly(object.sql) ?? false
  }
}

/// How the objects in a file differ from those that it should have. Making one anew is dropping and
/// creating it.
struct SchemaPlan: Hashable, Sendable {
  /// What is in the file and is not wanted, or not in these words, in the file's order.
  var dropped: [SchemaObject] = []
  /// What is wanted and is not in the file in these words, in the order in which it was given.
  var created: [SchemaObject] = []

  var isEmpty: Bool { dropped.isEmpty && created.isEmpty }

  init(dropped: [SchemaObject] = [], created: [SchemaObject] = []) {
    self.dropped = dropped
    self.created = created
  }

  /// - Parameter isConcerned: Which of the file's objects are compared; the others stay.
  init(
    from wanted: [SchemaObject], to installed: InstalledObjects,
    where isConcerned: (SchemaObject) -> Bool = { _ in true }
  ) {
    let wantedObjects = InstalledObjects(wanted)
    dropped = installed.objects.filter { isConcerned($0) && !wantedObjects.holds($0) }
    created = wanted.filter { !installed.holds($0) }
  }

  /// Drops and creates, each in the order that its kind needs.
  ///
  /// - Precondition: A write transaction is open.
  func apply(to connection: Connection) throws {
    try SchemaObject.drop(dropped, from: connection)
    for object in created { try connection.execute(object.sql) }
  }
}
