#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension StoreError {
  /// What an SQLite failure means to a caller, without knowledge of models.
  init(_ error: SQLiteError) {
    if let sentence = error.limitSentence {
      self.init(.invalidValue, sentence, sqliteCode: error.code.rawValue)
      return
    }
    let (code, message) = error.schemaObstacle ?? error.wantOfSpace ?? error.meaning
    self.init(code, message, sqliteCode: error.code.rawValue)
  }

  /// What the message of a failed transaction says of the file.
  fileprivate static let nothingChanged = "; nothing was changed"

  /// The same failure of work that followed a commit.
  ///
  /// - Parameter lead: A clause that says what stands and what failed, such as "The commit stands;
  ///   trimming the journal after it failed".
  func following(_ lead: String) -> StoreError {
    var error = self
    error.message = "\(lead): \(message.replacing(Self.nothingChanged, with: ""))"
    return error
  }
}

extension SQLiteError {
  /// The statement, as the end of a message.
  private var blame: String { sql.map { " in: \($0)" } ?? "" }

  /// What a sound file's schema has that SQLite cannot use here; nil for another failure.
  fileprivate var schemaObstacle: (StoreError.Code, String)? {
    switch code.primary {
    case .error where message.hasPrefix("unsafe use of virtual table "):
      (
        .unsupportedSchema,
        "A trigger or view of the file uses a virtual table, and SQLite \(Connection.libraryVersion) does not trust it there (\(message)). Drop that trigger or view. To keep a full-text index up to date, write it in your own transactions."
      )
    case .corrupt where message.contains(") - unsafe use of "),
      .error where message.hasPrefix("unsafe use of "):
      // In a trigger or view it is found when that is used:
      // https://sqlite.org/pragma.html#pragma_trusted_schema
      (
        .unsupportedSchema,
        "The file's schema calls a function that this SQLite does not trust there (\(message)). A newer SQLite may; or write the constraint, trigger or view without it."
      )
    case .error where isWithoutSolution:
      (
        .unsupportedSchema,
        "SQLite cannot read a table of the statement here: its key is ordered by a collation that only the program that made it has.\(blame)"
      )
    case .corrupt where isUnknownSyntax:
      // https://sqlite.org/formatchng.html
      (
        .unsupportedSchema,
        "This SQLite (\(Connection.libraryVersion)) cannot parse the file's schema (\(message)). The file may need a newer SQLite: open it with the program that made it."
      )
    default: nil
    }
  }

  /// That there is no room for the file or what is beside it; nil for another failure.
  fileprivate var wantOfSpace: (StoreError.Code, String)? {
    let nothingChanged = StoreError.nothingChanged
    return switch code.primary {
    case .full:
      (.outOfSpace, "The disk is full\(nothingChanged). Free space, then try again.")
    case .ioFailure where isForWantOfSpace:
      (
        .outOfSpace,
        "The file may not grow (disk full or over quota)\(nothingChanged). Free space, then try again."
      )
    case .cannotOpen where isForWantOfSpace:
      (
        .outOfSpace,
        "No space for the files beside the database\(nothingChanged). Free space, then try again."
      )
    default: nil
    }
  }

  /// Any other failure.
  fileprivate var meaning: (StoreError.Code, String) {
    switch code.primary {
    case .busy, .locked, .lockingProtocol:
      (.busy, "Another connection holds the file locked\(StoreError.nothingChanged). Try again.")
    case .notADatabase:
      (.notADatabase, "The file is not an SQLite database.")
    case .corrupt where code == .corruptVirtualTable:
      (
        .corrupt,
        "The data of a virtual table is damaged (\(message)). Rebuild a full-text index t with INSERT INTO t (t) VALUES ('rebuild'). If that fails, restore a backup.\(blame)"
      )
    case .corrupt:
      (
        .corrupt,
        "The database is damaged (\(message)). Restore a backup, or run sqlite3 FILE .recover."
      )
    case .readOnly:
      (.readOnly, "The database is read-only (\(message)).")
    case .ioFailure:
      (.ioFailure, "Reading or writing the file failed: \(message).")
    case .permission, .cannotOpen:
      code == .cannotOpenSymbolicLink
        ? (.unsafeLocation, "A symbolic link came into the path while it was opened; try again.")
        : (.permissionDenied, "The file cannot be opened: \(message).")
    case .interrupted:
      (.cancelled, "The work was interrupted; nothing of it was kept.")
    case .unstorable:
      (.invalidValue, "A value cannot be stored: \(message).")
    case .tooBig:
      (.invalidQuery, "The SQL is longer than SQLite takes (\(message)).")
    case .constraint:
      (.rejected, "The database refused the change: \(message).")
    case .misuse where message.hasPrefix("The text holds "):
      (.invalidQuery, message)
    case .error, .range, .misuse, .authorization:
      (.invalidQuery, "SQLite refused the statement: \(message)\(blame)")
    default:
      (.database, "SQLite failed: \(message)\(blame)")
    }
  }
}

extension ConnectionFailure {
  /// What everyone after the failure is told, and after a COMMIT also the one who met it.
  var storeError: StoreError {
    switch moment {
    case .commit:
      StoreError(
        .outcomeUnknown,
        """
        COMMIT failed (\(failure.message)); whether the transaction was kept shows after the store \
        is opened anew. Close it and open it again.
        """, sqliteCode: failure.code.rawValue)
    case .rollback:
      StoreError(
        .ioFailure,
        """
        Rolling a transaction back failed (\(failure.message)). Nothing of it is kept; close the \
        store and open it again before writing more.
        """, sqliteCode: failure.code.rawValue)
    }
  }

  /// What the one who met the failure is told.
  var reason: any Error { cause ?? storeError }
}

extension StoreError {
  /// `error` as it is, or as an error of the database when it comes from outside the store.
  init(reporting error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case let error as SQLiteError: self.init(error)
    default: self.init(.database, "\(error)")
    }
  }
}
