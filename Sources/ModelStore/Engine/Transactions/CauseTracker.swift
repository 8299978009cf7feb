/// Follows which change a statement made itself last: what triggers do next answers it, since they
/// run row by row.
struct CauseTracker {
  private let tables: [TrackedTable]
  private var hooked: HookedTables
  /// nil before the statement's first change, and for a record whose key cannot be told.
  private(set) var cause: Cause?
  private var statement: Int?

  /// - Parameter tables: All whose changes may set off a trigger.
  init(tables: [TrackedTable]) {
    self.tables = tables
    hooked = HookedTables(names: tables.map(\.schema.table))
  }

  /// A foreign key's action starts like its statement, and what follows has the same cause. So one
  /// that runs twice in a row keeps the first run's cause until it changes a record itself.
  mutating func statementStarted(_ number: Int) {
    if number != statement { cause = nil }
    statement = number
  }

  mutating func forgetTableNames() { hooked.forget() }

  /// Notes a change that the statement makes itself.
  mutating func note(_ row: borrowing PreupdateRow) {
    guard let number = hooked.number(of: row) else {
      cause = nil
      return
    }
    let table = tables[number]
    var fields: [String] = []
    if row.operation == .update {
      for (field, column) in zip(table.schema.fields, table.storedColumns) {
        if let column, row.changes(at: column) { fields.append(field.name) }
      }
    }
    do throws(ColumnError) {
      cause = Cause(
        operation: RecordChange.Operation(row.operation), model: table.schema.name,
        key: try row.key(in: table, isNew: row.operation != .delete), fields: fields)
    } catch {
      // Where the table is captured too, the transaction fails of it.
      cause = nil
    }
  }
}

extension RecordChange.Operation {
  fileprivate init(_ operation: PreupdateRow.Operation) {
    self =
      switch operation {
      case .insert: .insert
      case .update: .update
      case .delete: .delete
      }
  }
}

extension PreupdateRow {
  /// The key values before or after the change.
  func key(in table: TrackedTable, isNew: Bool) throws(ColumnError) -> [SQLValue] {
    var key: [SQLValue] = []
    for field in table.schema.keyIndices {
      guard let column = table.storedColumns[field] else { continue }
      key.append(isNew ? try new(at: column) : try old(at: column))
    }
    return key
  }
}
