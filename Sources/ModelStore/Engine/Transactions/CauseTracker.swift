/// The last change that a statement made itself. Triggers run row by row, so it is the cause of the
/// trigger changes that follow.
struct CauseTracker {
  private let tables: [TrackedTable]
  private var hooked: HookedTables
  /// The cause; nil before the statement's first change, and if the record's key cannot be read.
  private(set) var cause: Cause?
  private var statement: Int?

  /// Creates a tracker.
  ///
  /// - Parameter tables: All tables whose changes may fire a trigger.
  init(tables: [TrackedTable]) {
    self.tables = tables
    hooked = HookedTables(names: tables.map(\.schema.table))
  }

  /// Resets the cause when another statement starts.
  ///
  /// A foreign key's action starts like its statement, and its changes have the same cause. A
  /// statement that runs twice in a row therefore keeps the first run's cause until it changes a
  /// record itself.
  mutating func statementStarted(_ number: Int) {
    if number != statement { cause = nil }
    statement = number
  }

  mutating func forgetTableNames() { hooked.forget() }

  /// Records a change that the statement makes itself.
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
      // If the table is captured too, the same error makes the transaction fail.
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
  /// Returns the key values before or after the change.
  func key(in table: TrackedTable, isNew: Bool) throws(ColumnError) -> [SQLValue] {
    var key: [SQLValue] = []
    for field in table.schema.keyIndices {
      guard let column = table.storedColumns[field] else { continue }
      key.append(isNew ? try new(at: column) : try old(at: column))
    }
    return key
  }
}
