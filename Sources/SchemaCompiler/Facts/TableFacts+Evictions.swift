// What REPLACE may evict that BEFORE triggers cannot expect.
extension TableFacts {
  /// Whether REPLACE may evict records that BEFORE triggers do not expect: those that are
  /// equal to the new one in an index over an expression, by a default that not every program can
  /// evaluate, or in a column that is computed too late. Then the journal may miss deletions.
  package var evictsUnforeseen: Bool {
    func isUnforeseen(_ column: ColumnFacts) -> Bool {
      column.hasUnforeseenReplacement || isComputedLate(column)
    }
    return primaryKey.contains(where: isUnforeseen)
      || indexes.contains { index in
        index.isUnique
          && index.columns.contains { indexed in
            indexed.name.flatMap { column(named: $0) }.map(isUnforeseen) ?? true
          }
      }
  }

  /// The columns that are not generated.
  var writtenColumns: [String] { columns.filter { $0.generated == nil }.map(\.name) }

  /// Whether a column is computed from what SQLite itself fills in after BEFORE triggers have run:
  /// the row number of a record that comes without one, and what REPLACE puts in the place of a
  /// NULL. Those triggers see another value of it then.
  private func isComputedLate(_ column: ColumnFacts) -> Bool {
    guard column.generated != nil else { return false }
    let expressions = TableSQL(sql).generated
    var seen: Set<String> = [column.name.asciiFolded]
    var names = Array(seen)
    while let name = names.popLast() {
      guard let found = self.column(named: name) else { continue }
      if found.generated == nil {
        let isRowID = found.name == rowIDColumn?.name
        if isRowID || found.replacement != nil { return true }
      } else {
        guard let expression = expressions[name] else { return true }
        names += SQLExpression.columnNames(in: expression).filter { seen.insert($0).inserted }
      }
    }
    return false
  }
}

extension ColumnFacts {
  /// What REPLACE puts in the place of NULL; nil when it keeps it or refuses.
  var replacement: SQLDefault? { isNotNull ? defaultSQL.map { SQLDefault($0) } : nil }

  /// Whether that may fail in a program that lacks a function of another.
  var hasUnforeseenReplacement: Bool { replacement?.isKnownEverywhere == false }
}
