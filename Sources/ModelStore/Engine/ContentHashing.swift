/// Computes content hashes on one state of the store.
///
/// Decision record 27 defines every hashed byte. A change needs another ``version``, because users
/// store hashes.
struct ContentHashing {
  private static let version = "ModelStore content 1"

  let access: _TransactionAccess

  /// The kind of rows that a query returns.
  private enum Form: String {
    /// Records with a key, in key order.
    case records
    /// The slots of ordered lists, in the order of each list. The numbering of slots is not hashed.
    case list
    /// The rows of a view, which have no key: in the order of their digests.
    case rows
  }

  /// Returns the hash of every record of every model except views. A model without records adds
  /// nothing.
  func store() throws -> ContentHash {
    var digest = Self.digest(of: "store")
    let models = access.models.schema.models.filter { $0.kind == .table }
    for model in models.sorted(by: { Self.precedes($0.name, $1.name) }) {
      let content = try content(of: StoreQuery<DynamicRecord>(model))
      guard content.count > 0 else { continue }
      digest.update(1 as UInt8)
      digest.update(content.hash.bytes)
    }
    digest.update(0 as UInt8)
    return ContentHash(digest)
  }

  /// Returns the hash of the records that `query` selects, and their number. The order of the query
  /// does not matter.
  func content<Element>(of query: StoreQuery<Element>) throws -> (hash: ContentHash, count: UInt64)
  {
    let schema = query.schema
    if let slots = access.models.schema.slotModels.first(where: { $0.name == schema.name }) {
      return try list(query, slots)
    }
    let fields = Self.sorted(Array(schema.fields.indices), in: schema)
    guard schema.kind == .table else { return try rows(query, fields) }
    return try ordered(try Self.text(of: query), .records, schema, fields, key: schema.key)
  }

  /// Returns the statement that selects the records of a table in hash order.
  static func text<Element>(of query: StoreQuery<Element>) throws(StoreError) -> SQLText {
    let schema = query.schema
    var text = try query.recordText(
      fields: sorted(Array(schema.fields.indices), in: schema))
    text.append(sql: "\nORDER BY " + binary(schema.keyIndices, in: schema))
    if !schema.keyFields.contains(where: \.isRowID) {
      // SQLite allows several records with NULL in their key, so their contents decide the order.
      // SQLite skips these terms for keys that are unique and NOT NULL.
      let fields = sorted(Array(schema.fields.indices), in: schema)
      text.append(sql: ", " + contents(fields.map { schema.fields[$0].column }))
    }
    return text
  }

  /// Returns terms that separate all values with different hashes. ORDER BY treats 1 and 1.0 as
  /// equal.
  private static func contents(_ columns: [String]) -> String {
    columns.map(SQLText.quoted)
      .map { "\($0) COLLATE BINARY, typeof(\($0))" }.joined(separator: ", ")
  }

  private func list<Element>(
    _ query: StoreQuery<Element>, _ slots: SlotModel
  ) throws -> (hash: ContentHash, count: UInt64) {
    let schema = slots.schema
    let contents = schema.fields.indices.filter { $0 != slots.slot && $0 != slots.label }
    let fields = Self.sorted(contents, in: schema)
    func column(_ index: Int) -> String { SQLText.quoted(schema.fields[index].column) }
    var text = try query.recordText(fields: fields)
    if slots.isAdopted {
      // Other rows of such a table are not in any list; see SlotModel.
      text.append(
        sql: query.condition == nil && !query.isWindow ? "\nWHERE " : "\nAND ")
      text.append(
        sql: "typeof(\(column(slots.label))) = 'integer' AND \(column(slots.element)) IS NOT NULL")
    }
    text.append(
      sql: "\nORDER BY \(Self.binary([slots.owner], in: schema)), \(column(slots.label)), "
        + column(slots.slot))
    return try ordered(text, .list, schema, fields, key: [schema.fields[slots.owner].name])
  }

  private func ordered(
    _ text: SQLText, _ form: Form, _ schema: ModelSchema, _ fields: [Int], key: [String]
  ) throws -> (hash: ContentHash, count: UInt64) {
    var digest = Self.digest(of: form, schema, fields, key: key)
    var count: UInt64 = 0
    try access.runner.forEachRow(text, of: schema) { row in
      digest.update(1 as UInt8)
      for column in fields.indices { try row.add(at: column, to: &digest) }
      count += 1
    }
    digest.update(0 as UInt8)
    digest.update(count)
    return (ContentHash(digest), count)
  }

  private func rows<Element>(
    _ query: StoreQuery<Element>, _ fields: [Int]
  ) throws -> (hash: ContentHash, count: UInt64) {
    var digests: [[UInt8]] = []
    try access.runner.forEachRow(try query.selectText(fields: fields), of: query.schema) { row in
      var digest = SHA256()
      for column in fields.indices { try row.add(at: column, to: &digest) }
      digests.append(digest.finish())
    }
    digests.sort { $0.lexicographicallyPrecedes($1) }
    var digest = Self.digest(of: .rows, query.schema, fields, key: [])
    for row in digests {
      digest.update(1 as UInt8)
      digest.update(row)
    }
    digest.update(0 as UInt8)
    digest.update(UInt64(digests.count))
    return (ContentHash(digest), UInt64(digests.count))
  }

  /// Returns a digest that begins with the model, the fields and the key of the records.
  private static func digest(
    of form: Form, _ schema: ModelSchema, _ fields: [Int], key: [String]
  ) -> SHA256 {
    var digest = digest(of: form.rawValue)
    digest.updateCounting(Array(schema.name.utf8))
    for names in [fields.map { schema.fields[$0].name }, key] {
      digest.update(UInt64(names.count))
      for name in names { digest.updateCounting(Array(name.utf8)) }
    }
    return digest
  }

  private static func digest(of kind: String) -> SHA256 {
    var digest = SHA256()
    digest.update(Array("\(version) \(kind)\n".utf8))
    return digest
  }

  /// Returns the fields by name, so that the order of a table's columns makes no difference.
  private static func sorted(_ fields: [Int], in schema: ModelSchema) -> [Int] {
    fields.sorted { precedes(schema.fields[$0].name, schema.fields[$1].name) }
  }

  /// Compares bytes: Swift's own order of strings may change with Unicode.
  private static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  /// Returns terms that order values independently of their columns' collation.
  private static func binary(_ fields: [Int], in schema: ModelSchema) -> String {
    fields.map { "\(SQLText.quoted(schema.fields[$0].column)) COLLATE BINARY" }
      .joined(separator: ", ")
  }
}

extension StoreQuery {
  /// Returns the SELECT, without an order, for some fields of the selected records. If it has a
  /// WHERE, you can continue it with AND.
  fileprivate func recordText(fields: [Int]) throws(StoreError) -> SQLText {
    let columns = SQLText.quotedList(fields.map { schema.fields[$0].column })
    var text = SQLText(sql: "SELECT \(columns)\nFROM \(SQLText.quoted(schema.table))\n")
    if isWindow {
      text.append(try selectionText())
    } else if let condition {
      text.append("WHERE (\(try condition.sqlText(schema: schema)))")
    }
    return text
  }
}

extension TransactionReads where Self: ~Copyable {
  /// Returns the content hash of the store: of every record of every model, and of the order of
  /// every ordered list.
  ///
  /// It does not include views, bindings, rules, the change journal and tables that are not models.
  /// A model without records adds nothing, so declaring one does not change the hash. For lists it
  /// includes the owners, the order and the elements, but not the numbering of slots.
  ///
  /// - Throws: ``StoreError``, also when one table cannot be read.
  /// - Complexity: Reads every record, in constant memory: records come in the order of their keys
  ///   from an index. Keys with another collation than BINARY are sorted in memory.
  public borrowing func contentHash() throws -> ContentHash {
    try ContentHashing(access: access).store()
  }

  /// Returns the content hash of all records of a model.
  ///
  /// - Complexity: Same as ``contentHash()``, for this model only.
  public borrowing func contentHash<M: Model>(of model: M.Type) throws -> ContentHash {
    try contentHash(of: StoreQuery<M>(M.schema))
  }

  /// Returns the content hash of the records that `query` selects.
  ///
  /// The order of the query makes no difference, except that it decides which records a limit
  /// selects.
  ///
  /// A query for all records has the same hash as its model. For a query on the slots of an ordered
  /// list, the hash includes the owners, the order and the elements. The rows of a view have no
  /// key: each takes 32 bytes of memory until the end.
  ///
  /// - Complexity: Reads the selected records, and sorts them in memory by their keys if SQLite
  ///   finds them by another index.
  public borrowing func contentHash<Element>(of query: StoreQuery<Element>) throws -> ContentHash {
    try ContentHashing(access: access).content(of: query).hash
  }
}
