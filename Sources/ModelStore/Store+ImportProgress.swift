// How far imports in batches have come.
extension Store {
  /// Returns the imports that were not finished, by token.
  package func unfinishedImports() throws -> [ImportProgress] {
    try read { reads in
      let exists = try reads.value(
        Int64.self,
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = \(ImportProgress.table)"
      )
      guard exists == 1 else { return [] }
      return try reads.rows(
        SQLText(
          sql: "SELECT token, models, records, fingerprint, rejects FROM \(ImportProgress.table) "
            + "ORDER BY token")
      ).map { row in
        guard case .text(let token) = row.values[0], case .text(let models) = row.values[1],
          case .integer(let records) = row.values[2],
          case .integer(let fingerprint) = row.values[3],
          case .integer(let rejects) = row.values[4]
        else {
          throw StoreError(
            .corrupt, "A row of \(ImportProgress.table) cannot be read; delete it with sqlite3.")
        }
        return ImportProgress(
          token: token, models: models.split(separator: "\n").map(String.init),
          recordCount: Int(records), fingerprint: fingerprint, rejectsByteCount: Int(rejects))
      }
    }
  }

  /// Creates the table of ``ImportProgress``, unless the file has it. The next transaction would
  /// otherwise lose its prepared statements.
  package func prepareImportProgress() throws {
    try write { transaction in
      try transaction.execute(
        SQLText(
          sql: """
            CREATE TABLE IF NOT EXISTS \(ImportProgress.table) (
              token TEXT PRIMARY KEY, models TEXT NOT NULL, records INTEGER NOT NULL,
              fingerprint INTEGER NOT NULL, rejects INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID
            """))
    }
  }
}

extension WriteTransaction {
  /// Stores the progress together with the changes of this transaction.
  ///
  /// - Parameter recordCount: The count that the file has; nil for the first batch.
  /// - Precondition: ``Store/prepareImportProgress()`` was called.
  /// - Throws: ``StoreError`` with code `conflict` if the file has another count, because another
  ///   process continues the same import.
  package borrowing func record(_ progress: ImportProgress, after recordCount: Int?) throws {
    let values: [SQLValue] = [
      .text(progress.models.joined(separator: "\n")), .integer(Int64(progress.recordCount)),
      .integer(progress.fingerprint), .integer(Int64(progress.rejectsByteCount)),
      .text(progress.token),
    ]
    guard let recordCount else {
      return try access.runner.run(
        """
        INSERT INTO \(ImportProgress.table) (models, records, fingerprint, rejects, token)
        VALUES (?, ?, ?, ?, ?)
        """
      ) { statement in
        try statement.bind(values)
        try statement.run()
      }
    }
    try access.runner.run(
      """
      UPDATE \(ImportProgress.table) SET models = ?, records = ?, fingerprint = ?, rejects = ?
      WHERE token = ? AND records = ?
      """
    ) { statement in
      try statement.bind(values + [.integer(Int64(recordCount))])
      try statement.run()
    }
    guard access.connection.changeCount == 1 else {
      throw StoreError(
        .conflict,
        "The import \(progress.token) was continued by another process, so this batch was not written."
      )
    }
  }

  /// Removes the progress of an import that is finished.
  package borrowing func endImport(_ token: String) throws {
    try access.runner.run("DELETE FROM \(ImportProgress.table) WHERE token = ?") { statement in
      try statement.bind([.text(token)])
      try statement.run()
    }
  }
}
