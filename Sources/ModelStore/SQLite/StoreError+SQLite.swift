#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension StoreError {
  /// Creates the error for an SQLite failure, without knowledge of models.
  init(_ error: SQLiteError) {
    if let sentence = error.limitSentence {
      self.init(.invalidValue, sentence, sqliteCode: error.code.rawValue)
      return
    }
    let (code, message) = error.schemaObstacle ?? error.wantOfSpace ?? error.meaning
    self.init(code, message, sqliteCode: error.code.rawValue)
  }

  /// The part of a failed transaction's message about the file.
  fileprivate static let nothingChanged = "; nothing was changed"

  /// Returns the error with the path of the file that is damaged, unless the message has it.
  func naming(_ path: String?) -> StoreError {
    guard code == .corrupt || code == .notADatabase, let path, !message.contains(path) else {
      return self
    }
    var error = self
    error.message = "\(path): \(message)"
    return error
  }

  /// Returns the same failure for work that followed a commit.
  ///
  /// - Parameter lead: A clause about what was committed and what failed, for example "The commit
  ///   is complete; trimming the journal after it failed".
  func following(_ lead: String) -> StoreError {
    var error = self
    error.message = "\(lead): \(message.replacing(Self.nothingChanged, with: ""))"
    return error
  }
}

extension SQLiteError {
  /// The statement, for the end of a message.
  private var blame: String { sql.map { " in: \($0)" } ?? "" }

  /// The database, for the middle of a message.
  private var place: String { file.map { "the file \($0)" } ?? "the file" }

  /// How long the call waited for a lock, for the middle of a message.
  private var waiting: String {
    let (seconds, attoseconds) = (wait ?? .zero).components
    let count = seconds * 1000 + attoseconds / 1_000_000_000_000_000
    if count == 0 { return "" }
    let time = count < 1000 ? "\(count) ms" : "\(count / 1000).\(count % 1000 / 100) s"
    return ", and the write waited \(time) for the write lock"
  }

  /// An object in an intact file's schema that SQLite cannot use here; nil for another failure.
  fileprivate var schemaObstacle: (StoreError.Code, String)? {
    switch code.primary {
    case .error where message.hasPrefix("unsafe use of virtual table "):
      (
        .unsupportedSchema,
        "A trigger or view of the file uses a virtual table, and SQLite \(Connection.libraryVersion) does not trust it there (\(message)). Drop that trigger or view. To keep a full-text index up to date, write it in your own transactions."
      )
    case .corrupt where message.contains(") - unsafe use of "),
      .error where message.hasPrefix("unsafe use of "):
      // SQLite reports it only when a trigger or view is used:
      // https://sqlite.org/pragma.html#pragma_trusted_schema
      (
        .unsupportedSchema,
        "The file's schema calls a function that this SQLite does not trust there (\(message)). A newer SQLite may; or write the constraint, trigger or view without it."
      )
    case .error where isWithoutSolution:
      (
        .unsupportedSchema,
        "SQLite cannot read a table of the statement. Its key uses a collation that only the program that created the table has.\(blame)"
      )
    case .corrupt where isUnknownSyntax:
      // https://sqlite.org/formatchng.html
      (
        .unsupportedSchema,
        "This SQLite (\(Connection.libraryVersion)) cannot parse the file's schema (\(message)). The file may need a newer SQLite: open it with the program that created it."
      )
    default: nil
    }
  }

  /// The error for no space for the file or the files beside it; nil for another failure.
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

  /// Why a file cannot be opened. SQLite's own message does not say it.
  private var reason: String {
    systemErrno == EACCES ? String(cString: strerror(systemErrno)) : message
  }

  /// The error for any other failure.
  fileprivate var meaning: (StoreError.Code, String) {
    switch code.primary {
    case .busy, .locked, .lockingProtocol:
      (
        .busy,
        "Another connection holds \(place) locked\(waiting)\(StoreError.nothingChanged). Try again."
      )
    case .notADatabase:
      (.notADatabase, "\(file ?? "The file") is not an SQLite database.")
    case .corrupt where code == .corruptVirtualTable:
      (
        .corrupt,
        "The data of a virtual table is damaged (\(message)). Rebuild a full-text index t with INSERT INTO t (t) VALUES ('rebuild'). If that fails, restore a backup.\(blame)"
      )
    case .corrupt:
      (
        .corrupt,
        "The database\(file.map { " \($0)" } ?? "") is damaged (\(message)). Restore a backup, or run sqlite3 FILE .recover."
      )
    case .readOnly:
      (.readOnly, "The database\(file.map { " \($0)" } ?? "") is read-only (\(message)).")
    case .ioFailure:
      (.ioFailure, "Reading or writing \(place) failed: \(message).")
    case .permission, .cannotOpen:
      code == .cannotOpenSymbolicLink
        ? (.unsafeLocation, "A symbolic link was added to the path while it was opened. Try again.")
        : (.permissionDenied, "\(file ?? "The file") cannot be opened: \(reason).")
    case .interrupted:
      (.cancelled, "The work was interrupted and rolled back.")
    case .unstorable:
      (.invalidValue, "A value cannot be stored: \(message).")
    case .tooBig:
      (.invalidQuery, "The SQL is longer than SQLite accepts (\(message)).")
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
  /// The error for all calls after the failure. After a COMMIT, the failed call throws it too.
  var storeError: StoreError {
    switch moment {
    case .commit:
      StoreError(
        .outcomeUnknown,
        """
        COMMIT failed (\(failure.message)). The outcome of the transaction is unknown. Close the \
        store and open it again to find out.
        """, sqliteCode: failure.code.rawValue)
    case .rollback:
      StoreError(
        .ioFailure,
        """
        Rolling a transaction back failed (\(failure.message)). The transaction was not committed. \
        Close the store and open it again before you write more.
        """, sqliteCode: failure.code.rawValue)
    }
  }

  /// The error for the call that failed.
  var reason: any Error { cause ?? storeError }
}

extension StoreError {
  /// Creates the error for `error`: the same error, or a database error if it comes from outside
  /// the store.
  init(reporting error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case let error as SQLiteError: self.init(error)
    default: self.init(.database, "\(error)")
    }
  }
}
