#if Postgres
  internal import ModelStore

  /// Compares each record of a read transaction with a mirror that has the same state.
  struct MirrorVerification {
    let mirror: MirrorTransaction
    /// For each model, at most this many differences of each kind are returned.
    static let differenceCountMax = 1_000

    func differences(
      _ table: MirrorTable, _ tx: borrowing ReadTransaction
    ) throws -> [MirrorDifference] {
      var found = Found()
      var keys: [[SQLValue]] = []
      var rows = MirrorRows(table.columns, of: table)
      try tx.forEach(StoreQuery<DynamicRecord>(table.model)) { record in
        try rows.append(record.values, key: record.key)
        keys.append(record.key)
        guard rows.isFull else { return }
        try compare(&rows, &keys, table, &found)
      }
      try compare(&rows, &keys, table, &found)
      let count = try mirror.run(table.count).integer(0, 0)
      if count > Int64(found.recordCount - found.missingCount) {
        found.differences += try extras(table, tx)
      }
      return found.differences
    }

    private struct Found {
      var recordCount = 0
      var missingCount = 0
      var differences: [MirrorDifference] = []
    }

    private func compare(
      _ rows: inout MirrorRows, _ keys: inout [[SQLValue]], _ table: MirrorTable,
      _ found: inout Found
    ) throws {
      guard !keys.isEmpty else { return }
      let answer = try mirror.run(table.compare, rows.arguments)
      for row in 0..<answer.rowCount {
        let isMissing = answer.integer(row, 1) == 1
        if isMissing { found.missingCount += 1 }
        guard found.differences.count < Self.differenceCountMax else { continue }
        let key = keys[Int(answer.integer(row, 0)) - 1]
        found.differences.append(
          MirrorDifference(
            model: table.model.name, key: key, kind: isMissing ? .missing : .changed))
      }
      found.recordCount += keys.count
      rows.removeAll()
      keys.removeAll()
    }

    /// The rows that only the mirror has.
    private func extras(
      _ table: MirrorTable, _ tx: borrowing ReadTransaction
    ) throws -> [MirrorDifference] {
      for statement in table.noteKeys { try mirror.run(statement) }
      var keys = MirrorRows(table.keyColumns, of: table)
      func send() throws {
        guard keys.count > 0 else { return }
        try mirror.run(table.noteKey, keys.arguments)
        keys.removeAll()
      }
      try tx.forEach(StoreQuery<DynamicRecord>(table.model)) { record in
        try keys.append(record.key, key: record.key)
        if keys.isFull { try send() }
      }
      try send()
      let rows = try mirror.run(table.unknownKeys, [.integer(Int64(Self.differenceCountMax))])
      return (0..<rows.rowCount).map { row in
        let key = table.keyColumns.enumerated().map { $1.decoded(rows.bytes(row, $0)) }
        return MirrorDifference(model: table.model.name, key: key, kind: .extra)
      }
    }
  }
#endif
