/// Which of some tables a row of the preupdate hook is of.
struct HookedTables {
  /// How the hook names a table: it stays the same while the schema does, and is only compared.
  private typealias Name = UnsafePointer<CChar>

  private let names: [ExactText]
  private var numbers: [Name: Int?] = [:]
  /// The table asked for last: a statement changes many rows of one.
  private var latest: (table: Name, number: Int?)?

  init(names: [String]) {
    self.names = names.map { ExactText($0.asciiFolded) }
  }

  /// The table's position among the names; nil when it is another one.
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

  /// To be called when the schema may have changed.
  mutating func forget() {
    latest = nil
    numbers.removeAll()
  }
}
