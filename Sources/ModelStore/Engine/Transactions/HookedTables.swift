/// A lookup from a row of the preupdate hook to one of several tables. It remembers the tables of
/// earlier rows.
struct HookedTables {
  private let names: HookedNames
  private var numbers: [HookedNames.Name: Int?] = [:]
  /// The last result: a statement changes many rows of one table.
  private var latest: (table: HookedNames.Name, number: Int?)?

  init(names: [String]) {
    self.names = HookedNames(names)
  }

  /// Returns the table's position among the names; nil for another table.
  mutating func number(of row: borrowing PreupdateRow) -> Int? {
    if let latest, latest.table == row.table { return latest.number }
    // A transaction that writes one table needs no dictionary.
    if let latest { numbers[latest.table] = .some(latest.number) }
    let number = found(row)
    latest = (row.table, number)
    return number
  }

  private func found(_ row: borrowing PreupdateRow) -> Int? {
    if !numbers.isEmpty, let found = numbers[row.table] { return found }
    return names.number(of: row, trying: nil)
  }

  /// Clears the lookup. Call it when the schema may have changed.
  mutating func forget() {
    latest = nil
    numbers.removeAll()
  }
}

/// The names of tables, in a form that is quick to compare with those of the preupdate hook.
struct HookedNames: Sendable {
  /// The hook's pointer to a table name. It is stable while the schema is.
  typealias Name = UnsafePointer<CChar>

  /// The names with ASCII letters in lower case, and a zero byte at the end.
  private let names: [[UInt8]]

  init(_ names: [String]) {
    self.names = names.map { Array($0.asciiFolded.utf8) + [0] }
  }

  /// Returns the position of a row's table among the names; nil for another table. It compares
  /// letters, so the answer is also right after a schema change that was undone, which leaves old
  /// pointers for other tables.
  ///
  /// - Parameter guess: The position to try first.
  func number(of row: borrowing PreupdateRow, trying guess: Int?) -> Int? {
    guard row.isInMainFile else { return nil }
    let table = row.table
    if let guess, Self.isSame(table, as: names[guess]) { return guess }
    return names.firstIndex { Self.isSame(table, as: $0) }
  }

  /// - Parameter folded: A name in lower case, with a zero byte at the end.
  private static func isSame(_ name: Name, as folded: [UInt8]) -> Bool {
    for (place, byte) in folded.enumerated() {
      let letter = UInt8(bitPattern: name[place])
      // Compares the zero byte too, so it reads nothing after it.
      guard (0x41...0x5A).contains(letter) ? letter + 32 == byte : letter == byte else {
        return false
      }
    }
    return true
  }
}
