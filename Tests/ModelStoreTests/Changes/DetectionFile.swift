import Testing

@testable import ModelStore

/// A database that another program made, adopted by a store, whose every commit is compared with
/// what the file holds before and after it.
struct DetectionFile {
  let directory: TemporaryDirectory
  let path: String
  let store: Store

  /// - Parameter setup: A script that the other program ran before the store came.
  init(_ setup: String, bindings: [FieldBinding] = []) throws {
    directory = try TemporaryDirectory()
    path = directory.file("other.db")
    try PlainDatabase(path).execute(setup)
    store = try Store(at: path)
    try store.adopt()
    if !bindings.isEmpty { _ = try Store(at: path, bindings: bindings) }
  }

  /// Runs the statements as one transaction and returns its changes as lines.
  func changes(_ statements: String..., sourceLocation: SourceLocation = #_sourceLocation)
    throws -> [String]
  {
    try changes(sourceLocation: sourceLocation) { tx in
      for statement in statements { try tx.execute(SQLText(sql: statement)) }
    }
  }

  /// Runs `body` as one transaction and returns its changes as lines, after comparing them with the
  /// difference between the tables before and after.
  func changes(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (borrowing WriteTransaction) throws -> Void
  ) throws -> [String] {
    let before = try contents()
    let changes = try store.writeReturningChanges(body).changes.changes
    let after = try contents()
    let expected = difference(from: before, to: after)
    let reported = Set(changes.map { Difference(model: $0.model, old: $0.old, new: $0.new) })
    #expect(reported == expected, sourceLocation: sourceLocation)
    #expect(reported.count == changes.count, "a record twice", sourceLocation: sourceLocation)
    return changes.map(\.line)
  }

  /// As ``changes(sourceLocation:_:)`` without the comparison, for rows that no key distinguishes.
  func uncheckedChanges(_ statements: String...) throws -> [String] {
    try store.writeReturningChanges { tx in
      for statement in statements { try tx.execute(SQLText(sql: statement)) }
    }.changes.changes.map(\.line)
  }

  /// The lines of a transaction whose statement must fail, the transaction going on.
  func changesAroundFailure(
    of statement: String, after first: String..., then last: [String] = []
  ) throws -> [String] {
    try changes { tx in
      for statement in first { try tx.execute(SQLText(sql: statement)) }
      failure { try tx.execute(SQLText(sql: statement)) }
      for statement in last { try tx.execute(SQLText(sql: statement)) }
    }
  }

  /// Every record of every table, by model.
  func contents() throws -> [String: [[SQLValue]]] {
    let database = try PlainDatabase(path)
    var contents: [String: [[SQLValue]]] = [:]
    for model in store.schema.models where model.kind == .table {
      let columns = SQLText.quotedList(model.fields.map(\.column))
      contents[model.name] =
        try database.rows("SELECT \(columns) FROM main.\(SQLText.quoted(model.table))")
    }
    return contents
  }

  private struct Difference: Hashable {
    let model: String
    let old: [SQLValue]?
    let new: [SQLValue]?
  }

  /// Records paired by key. A key with NULL pairs nothing: SQLite takes it for unequal to itself.
  private func difference(
    from before: [String: [[SQLValue]]], to after: [String: [[SQLValue]]]
  ) -> Set<Difference> {
    var found: Set<Difference> = []
    for model in store.schema.models where model.kind == .table {
      let keyIndices = model.keyIndices
      func keyed(_ rows: [[SQLValue]]?) -> [[SQLValue]: [SQLValue]] {
        Dictionary(
          uniqueKeysWithValues: (rows ?? []).map { row in (keyIndices.map { row[$0] }, row) })
      }
      let old = keyed(before[model.name])
      let new = keyed(after[model.name])
      for (key, row) in old where new[key] != row {
        found.insert(Difference(model: model.name, old: row, new: new[key]))
      }
      for (key, row) in new where old[key] == nil {
        found.insert(Difference(model: model.name, old: nil, new: row))
      }
    }
    return found
  }
}

extension RecordChange {
  /// `insert t 1 (1, 'a') user`, `update t 1 (a: 1 → 2 user)`, `delete t 1 (1, 'a') cascade`; an
  /// update of a record that was gone in between ends with `recreated`.
  var line: String {
    let start = "\(operation.rawValue) \(model) \(key.map(\.description).joined(separator: "/"))"
    func list(_ values: [SQLValue]?) -> String {
      "(\((values ?? []).map(\.description).joined(separator: ", ")))"
    }
    switch operation {
    case .insert: return "\(start) \(list(new)) \(origin)"
    case .delete: return "\(start) \(list(old)) \(origin)"
    case .update:
      let fields = fields.map { "\($0.name): \($0.old) → \($0.new) \($0.origin)" }
      return "\(start) (\(fields.joined(separator: ", ")))\(isRecreated ? " recreated" : "")"
    }
  }
}
