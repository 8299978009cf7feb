/// A lookup from a row of the preupdate hook to one of several tables.
struct HookedTables {
  /// The hook's pointer to a table name. It is stable while the schema is, and is only compared.
  private typealias Name = UnsafePointer<CChar>

  private let names: [ExactText]
  private var numbers: [Name: Int?] = [:]
  /// The last result: a statement changes many rows of one table.
  private var latest: (table: Name, number: Int?)?

  init(names: [String]) {
    self.names = names.map { ExactText($0.asciiFolded) }
  }

  /// Returns the table's position among the names; nil for another table.
  mutating func number(of row: borrowing PreupdateRow) -> Int? {
    if let latest, latest.table == row.table { return latest.number }
    let number = found(row)
    latest = (row.table, number)
    return number
  }

  private mutating func found(_ row: borrowing PreupdateRow) -> Int? {
    if let found = numbers[row.table] { return found }
    let name = ExactText(String(cString: row.table).asciiFolded)
    let number = row.isInMainFile ? names.firstIndex(of: name) : nil
    numbers[row.table] = .some(number)
    return number
  }

  /// Clears the lookup. Call it when the schema may have changed.
  mutating func forget() {
    latest = nil
    numbers.removeAll()
  }
}
