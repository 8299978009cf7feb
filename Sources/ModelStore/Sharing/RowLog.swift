/// Collects the rows that one transaction of a shared store changes, from the preupdate hook.
///
/// As in ``ChangeCapture``, the first image of a row stays valid whatever is rolled back, and the
/// last image is read at the end.
final class RowLog {
  private let tables: SharedTables
  private var capture = FirstImages()
  /// The table of the latest row: a statement changes many rows of one table.
  private var latest: Int?
  /// Why a value could not be read. The changes are then not known exactly, so the transaction
  /// fails.
  private var failure: (table: Int, error: ColumnError)?

  init(of tables: SharedTables) {
    self.tables = tables
  }

  /// Notes a row before it changes. It is called in the preupdate hook, so it does not throw, and
  /// runs no statement.
  func note(_ row: borrowing PreupdateRow) {
    guard failure == nil, let number = tables.names.number(of: row, trying: latest) else { return }
    latest = number
    do throws(ColumnError) {
      try note(row, in: number)
    } catch {
      failure = (number, error)
    }
  }

  private func note(_ row: borrowing PreupdateRow, in number: Int) throws(ColumnError) {
    let table = tables.all[number]
    if row.operation != .insert {
      try touch(number, try row.identity(in: table, after: false), row)
    }
    if row.operation != .delete {
      // Without effect if an update keeps the identity.
      capture.touching(table: number, identity: try row.identity(in: table, after: true)) { nil }
    }
  }

  private func touch(
    _ number: Int, _ identity: ChangeCapture.RowIdentity, _ row: borrowing PreupdateRow
  ) throws(ColumnError) {
    var problem: ColumnError?
    capture.touching(table: number, identity: identity) {
      do throws(ColumnError) {
        return try row.oldImage(in: tables.all[number])
      } catch {
        problem = error
        return nil
      }
    }
    if let problem { throw problem }
  }

  /// Returns the net changes of the transaction so far: for each table in the order of names, its
  /// rows in the order of their first change.
  ///
  /// - Parameter connection: The writing connection, inside the transaction.
  /// - Throws: ``StoreError`` if a value cannot be read, for example text that is not UTF-8.
  func changes(on connection: Connection) throws -> [CommitRecord.Table] {
    if let failure {
      throw StoreError(
        .invalidValue,
        "A value of the table \(tables.all[failure.table].name) cannot be read, so the transaction cannot be shared. Nothing was changed."
      )
    }
    var rows: [[CommitRecord.Row]] = Array(repeating: [], count: tables.all.count)
    for touched in capture.rows {
      let table = tables.all[touched.table]
      // A statement also finds a row whose key is equal but not the same, such as “a” for “A”.
      let present = try table.image(of: touched.identity, on: connection)
      let after = present.flatMap { table.has($0, touched.identity) ? $0 : nil }
      let before = touched.before.map(table.withoutDoubts)
      guard before != nil || after != nil else { continue }
      if let before, let after, before.elementsEqual(after, by: { $0 == $1 }) { continue }
      rows[touched.table].append(
        CommitRecord.Row(identity: touched.identity, before: before, after: after))
    }
    return zip(tables.all, rows).compactMap { table, rows in
      rows.isEmpty ? nil : CommitRecord.Table(name: table.name, rows: rows)
    }
  }
}

extension SharedTable {
  /// Returns the row that SQLite finds for an identity; nil if there is none. In a table without
  /// rowid its key may be another one that SQLite takes for equal: in other letters, or 1.0 for 1.
  func image(
    of identity: ChangeCapture.RowIdentity, on connection: Connection
  ) throws -> [SQLValue]? {
    try connection.withStatement(selectText) { statement in
      try statement.bind(Self.arguments(of: identity))
      guard try statement.step() else { return nil }
      let row = RowView(statement: statement.handle)
      return try columns.indices.map { try row.value(at: $0) }
    }
  }

  /// Whether a row that was found for an identity has exactly its key.
  func has(_ image: [SQLValue], _ identity: ChangeCapture.RowIdentity) -> Bool {
    switch identity {
    case .rowID: true
    case .key(let values): key.map { image[$0] } == values
    }
  }

  /// Returns a row as the hook reported it, with nil where its NULL may stand for a default.
  fileprivate func withoutDoubts(_ image: [SQLValue?]) -> [SQLValue?] {
    guard !columnsWithDefault.isEmpty else { return image }
    return image.enumerated().map { place, value in
      value?.isNull == true && columnsWithDefault.contains(place) ? nil : value
    }
  }
}

extension PreupdateRow {
  fileprivate func identity(
    in table: SharedTable, after: Bool
  ) throws(ColumnError) -> ChangeCapture.RowIdentity {
    guard table.rowIDName == nil else { return .rowID(after ? newRowID : oldRowID) }
    var key: [SQLValue] = []
    for place in table.key {
      guard let column = table.storedColumns[place] else {
        preconditionFailure("The hook reads each key of a table without rowid.")
      }
      key.append(after ? try new(at: column) : try old(at: column))
    }
    return .key(key)
  }

  fileprivate func oldImage(in table: SharedTable) throws(ColumnError) -> [SQLValue?] {
    var image: [SQLValue?] = []
    image.reserveCapacity(table.storedColumns.count)
    for column in table.storedColumns {
      image.append(try column.map { column throws(ColumnError) in try old(at: column) })
    }
    return image
  }
}

/// The first image of each row that a transaction touched.
private struct FirstImages {
  struct Row {
    let table: Int
    let identity: ChangeCapture.RowIdentity
    /// nil if the row did not exist.
    /// A value is nil if the hook cannot read it.
    let before: [SQLValue?]?
  }

  private(set) var rows: [Row] = []
  private var places = RowPlaces()

  /// Records that a row is about to change.
  ///
  /// - Parameter before: Returns the row as it is; called for the first touch only.
  mutating func touching(
    table: Int, identity: ChangeCapture.RowIdentity, before: () -> [SQLValue?]?
  ) {
    let found = places.first(withHash: identity.hash(in: table)) { place in
      rows[place].table == table && rows[place].identity == identity
    }
    guard found == nil else { return }
    rows.append(Row(table: table, identity: identity, before: before()))
    places.append { place in rows[place].identity.hash(in: rows[place].table) }
  }
}
