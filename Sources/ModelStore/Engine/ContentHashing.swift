/// Computes content hashes on one state of the store. Decision record 27 fixes every byte that is
/// hashed; a change needs another ``version``, because people keep hashes.
struct ContentHashing {
  private static let version = "ModelStore content 1"

  let access: _TransactionAccess

  /// What the rows of a query are.
  private enum Form: String {
    /// Records with a key, in the order of keys.
    case records
    /// The slots of ordered lists, in the order of each list. How slots are numbered is left out.
    case list
    /// The rows of a view, which have no key: in the order of their digests.
    case rows
  }

  /// The hash of every record of every model, views aside. A model without records adds nothing.
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

  /// The hash of the records that `query` selects, and how many they are. Their order is not part
  /// of it.
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

  /// The statement for the records of a table, in the order in which they are hashed.
  static func text<Element>(of query: StoreQuery<Element>) throws(StoreError) -> SQLText {
    let schema = query.schema
    var text = try query.recordText(
      fields: sorted(Array(schema.fields.indices), in: schema))
    text.append(sql: "\nORDER BY " + binary(schema.keyIndices, in: schema))
    if !schema.keyFields.contains(where: \.isRowID) {
      // SQLite allows several records with NULL in their key. Their contents decide. It skips
      // these terms for keys that are unique and NOT NULL.
      let fields = sorted(Array(schema.fields.indices), in: schema)
      text.append(sql: ", " + contents(fields.map { schema.fields[$0].column }))
    }
    return text
  }

  /// Terms that order all values that are hashed differently: 1 and 1.0 are equal to ORDER BY.
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
      // Other rows of such a table are in no list; see SlotModel.
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
    try access.forEachRow(text, of: schema) { row in
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
    try access.forEachRow(try query.selectText(fields: fields), of: query.schema) { row in
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

  /// A digest that begins with what the records are: model, fields and key.
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

  /// Fields by name, so that the order of a table's columns makes no difference.
  private static func sorted(_ fields: [Int], in schema: ModelSchema) -> [Int] {
    fields.sorted { precedes(schema.fields[$0].name, schema.fields[$1].name) }
  }

  /// By bytes: Swift's own order of texts may change with Unicode.
  private static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  /// Terms that order values the same whatever their columns' collation.
  private static func binary(_ fields: [Int], in schema: ModelSchema) -> String {
    fields.map { "\(SQLText.quoted(schema.fields[$0].column)) COLLATE BINARY" }
      .joined(separator: ", ")
  }
}

extension StoreQuery {
  /// The SELECT, without an order, for some fields of the records that it selects. A WHERE that it
  /// has can be continued with AND.
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
  /// The content hash of the store: of every record of every model, and of the order of every
  /// ordered list.
  ///
  /// Views, bindings, rules, the change journal and tables that are no models are not part of it.
  /// Nor is a model without records, so declaring one changes nothing. Of lists the owners, the
  /// order and the elements count, not how slots are numbered.
  ///
  /// - Throws: ``StoreError``, also when one table cannot be read.
  /// - Complexity: Reads every record, in constant memory: records come in the order of their keys
  ///   from an index. Keys that compare by another collation than BINARY are sorted in memory.
  public borrowing func contentHash() throws -> ContentHash {
    try ContentHashing(access: access).store()
  }

  /// The content hash of all records of a model.
  ///
  /// - Complexity: As of ``contentHash()``, for the one model.
  public borrowing func contentHash<M: Model>(of model: M.Type) throws -> ContentHash {
    try contentHash(of: StoreQuery<M>(M.schema))
  }

  /// The content hash of the records that `query` selects. The order that it asks for makes no
  /// difference, except for which records a limit leaves.
  ///
  /// The hash of a query for all records is that of their model. Of a query for the slots of an
  /// ordered list, the owners, the order and the elements count. A view's rows have no key: each
  /// takes 32 bytes of memory until the end.
  ///
  /// - Complexity: Reads the selected records, and sorts them in memory by their keys where SQLite
  ///   finds them by another index.
  public borrowing func contentHash<Element>(of query: StoreQuery<Element>) throws -> ContentHash {
    try ContentHashing(access: access).content(of: query).hash
  }
}
