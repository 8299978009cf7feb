internal import CSQLite

/// A column that SQLite stores, and its numbers in the preupdate hook.
struct StoredColumn: Hashable, Sendable {
  /// The index among all columns of the table.
  let position: Int
  /// The index among the stored columns: all columns except virtual generated ones.
  let storedPosition: Int
  let affinity: ColumnAffinity
  /// Whether its table has no rowid.
  let isWithoutRowID: Bool
  /// Whether the hook may report an integer of the old row as a real: ``all(of:isWithoutRowID:)``.
  var confusesIntegers = false

  /// The rowid of a table that has no column for it.
  static let rowID = StoredColumn(
    position: -1, storedPosition: -1, affinity: .integer, isWithoutRowID: false)

  /// Whether the column converts integers to reals.
  var isReal: Bool { affinity == .real }

  var isRowID: Bool { position < 0 }

  /// Returns the hook's number for the column.
  ///
  /// In tables without rowid, SQLite counts all columns, except in the new row of an UPDATE. In
  /// other tables it counts stored columns, or all columns in later versions.
  ///
  /// - Parameter inUpdatedRow: Whether the number is for the new row of an UPDATE.
  func index(inUpdatedRow: Bool) -> Int32 {
    if position == storedPosition { return Int32(position) }
    let countsAll = isWithoutRowID && !inUpdatedRow ? true : Self.hookCountsAllColumns
    return Int32(countsAll ? position : storedPosition)
  }

  /// Returns the value that the table will store. The hook reports whole reals as integers.
  func stored(_ value: SQLValue) -> SQLValue {
    guard isReal, case .integer(let integer) = value else { return value }
    return .real(Double(integer))
  }

  /// Returns the value that the table stored before a change.
  ///
  /// - Throws: ``ColumnError`` for a number that may be another one; see ``confusesIntegers``.
  func formerlyStored(_ value: SQLValue) throws(ColumnError) -> SQLValue {
    guard confusesIntegers, case .real(let real) = value, let integer = Int64(exactly: real) else {
      return stored(value)
    }
    // Below 2^53 each integer is a real of its own, and these affinities store no whole real.
    guard affinity == .integer || affinity == .numeric, abs(real) < 0x1p53 else {
      throw ColumnError(
        column: position,
        problem: .unrepresentable("SQLite does not say whether it is the integer \(integer)"))
    }
    return .integer(integer)
  }

  /// Whether the hook counts virtual columns of a table with rowid. SQLite does not document this
  /// and has changed it, so the store tests it with a table in memory.
  private static let hookCountsAllColumns: Bool = {
    var database: OpaquePointer?
    defer { sqlite3_close_v2(database) }
    var found: Int32 = 0
    let script = """
      CREATE TABLE probe(v AS (1) VIRTUAL, a);
      INSERT INTO probe(a) VALUES (7);
      """
    let code = withUnsafeMutablePointer(to: &found) { found in
      let code = sqlite3_open_v2(
        ":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY, nil)
      guard code == SQLITE_OK, let database else { return code }
      ConnectionSafety.apply(to: database)
      sqlite3_preupdate_hook(
        database,
        { context, database, _, _, _, _, _ in
          var value: OpaquePointer?
          if sqlite3_preupdate_new(database, 1, &value) == SQLITE_OK {
            context?.assumingMemoryBound(to: Int32.self).pointee = sqlite3_value_int(value)
          }
        }, found)
      return sqlite3_exec(database, script, nil, nil, nil)
    }
    precondition(code == SQLITE_OK, "SQLite cannot open a database in memory (\(code)).")
    return found == 7
  }()
}

extension StoredColumn {
  /// What decides where the hook finds the columns of a table, and which of them it misreads.
  struct Facts: Hashable, Sendable {
    let affinity: ColumnAffinity
    /// Whether the column is computed when it is read.
    let isVirtual: Bool
    /// From 1 in key order; 0 outside the primary key.
    let keyPosition: Int
    /// Whether the column is the rowid if it is the whole primary key. `INTEGER PRIMARY KEY DESC`
    /// is not, but taken for it.
    let mayBeRowID: Bool

    init(declaredType: String, isVirtual: Bool, keyPosition: Int) {
      affinity = ColumnAffinity(declaredType: declaredType)
      self.isVirtual = isVirtual
      self.keyPosition = keyPosition
      mayBeRowID = declaredType.asciiFolded == "integer"
    }
  }

  /// Returns where the hook finds each column of a table; nil for a virtual column, and for one
  /// that it misreads.
  ///
  /// SQLite 3.40 confuses the place of a column in the table with its place in the stored row, if
  /// they differ (`sqlite3_preupdate_old` in its source `vdbeapi.c`). With virtual columns before
  /// it, a column may be reported as the rowid. And an integer of the old row becomes a real if the
  /// column at the other place is REAL. A key without rowid is needed to find its row, so its
  /// values are repaired by ``formerlyStored(_:)`` instead.
  static func all(of columns: [Facts], isWithoutRowID: Bool) -> [StoredColumn?] {
    let keyPlaces = columns.indices.filter { columns[$0].keyPosition > 0 }
      .sorted { columns[$0].keyPosition < columns[$1].keyPosition }
    let stored = columns.indices.filter { !columns[$0].isVirtual }
    let rowID = keyPlaces.count == 1 ? keyPlaces.first { columns[$0].mayBeRowID } : nil
    // The order of a row's values in the file.
    let inFile = isWithoutRowID ? keyPlaces + stored.filter { !keyPlaces.contains($0) } : stored
    return columns.enumerated().map { position, facts in
      guard let number = stored.firstIndex(of: position),
        let place = inFile.firstIndex(of: position)
      else { return nil }
      var column = StoredColumn(
        position: position, storedPosition: number, affinity: facts.affinity,
        isWithoutRowID: isWithoutRowID)
      guard place != position, isWithoutRowID || !hookCountsAllColumns else { return column }
      if !isWithoutRowID, position == rowID || place == rowID { return nil }
      let mayHoldIntegers = facts.affinity != .text && facts.affinity != .real
      guard columns[place].affinity == .real, mayHoldIntegers else { return column }
      column.confusesIntegers = true
      return isWithoutRowID && facts.keyPosition > 0 ? column : nil
    }
  }
}
