// Evictions by REPLACE that BEFORE triggers cannot foresee.
extension TableFacts {
  /// Whether REPLACE may evict records that BEFORE triggers cannot foresee. The journal may then
  /// miss deletions.
  ///
  /// There are three causes: an index over an expression, a default that not every program can
  /// evaluate, and a column that is computed too late.
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

  /// Returns whether a column is computed from a value that SQLite sets after BEFORE triggers have
  /// run. Such values are a row number that the statement does not give, and the replacement of
  /// NULL by REPLACE. BEFORE triggers then see another value of the column.
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
  /// The value that REPLACE stores instead of NULL; nil when it keeps or rejects NULL.
  var replacement: SQLDefault? { isNotNull ? defaultSQL.map { SQLDefault($0) } : nil }

  /// Whether evaluating the replacement may fail in a program that lacks one of its functions.
  var hasUnforeseenReplacement: Bool { replacement?.isKnownEverywhere == false }
}
