#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension StoreError {
  /// What an SQLite failure means to a caller, without knowledge of models.
  init(_ error: SQLiteError) {
    let blame = error.sql.map { " in: \($0)" } ?? ""
    let (code, message): (Code, String) =
      switch error.code.primary {
      case .busy, .locked, .lockingProtocol:
        (.busy, "Another connection holds the file locked; nothing was changed. Try again.")
      case .notADatabase:
        (.notADatabase, "The file is not an SQLite database.")
      case .corrupt where error.message.contains(") - unsafe use of "),
        .error where error.message.hasPrefix("unsafe use of "):
        // A sound file; in a trigger or view it is found when that is used:
        // https://sqlite.org/pragma.html#pragma_trusted_schema
        (
          .unsupportedSchema,
          "The file's schema calls a function that this SQLite does not trust there (\(error.message)). A newer SQLite may; or write the constraint, trigger or view without it."
        )
      case .corrupt:
        (
          .corrupt,
          "The database is damaged (\(error.message)). Restore a backup, or run sqlite3 FILE .recover."
        )
      case .readOnly:
        (.readOnly, "The database is read-only (\(error.message)).")
      case .full:
        (.outOfSpace, "The disk is full; nothing was changed. Free space, then try again.")
      case .ioFailure where error.isForWantOfSpace:
        (.outOfSpace, "The file may not grow (disk full or over quota); nothing was changed.")
      case .ioFailure:
        (.ioFailure, "Reading or writing the file failed: \(error.message).")
      case .cannotOpen where error.isForWantOfSpace:
        (.outOfSpace, "No space for the files beside the database; nothing was changed.")
      case .permission, .cannotOpen:
        error.code == .cannotOpenSymbolicLink
          ? (.unsafeLocation, "The path goes through a symbolic link; open the file itself.")
          : (.permissionDenied, "The file cannot be opened: \(error.message).")
      case .interrupted:
        (.cancelled, "The work was interrupted; nothing of it was kept.")
      case .unstorable:
        (.invalidValue, "A value cannot be stored: \(error.message).")
      case .tooBig:
        (.invalidValue, "A value is larger than SQLite stores (\(error.message)).")
      case .constraint:
        (.rejected, "The database refused the change: \(error.message).")
      case .error, .range, .misuse, .authorization:
        (.invalidQuery, "SQLite refused the statement: \(error.message)\(blame)")
      default:
        (.database, "SQLite failed: \(error.message)\(blame)")
      }
    self.init(code, message, sqliteCode: error.code.rawValue)
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

extension DatabaseFile {
  /// - Throws: ``StoreError`` when the path names another file than the one that was opened.
  func checkPresence() throws(StoreError) {
    guard isStillThere() else {
      throw StoreError(
        .unsafeLocation,
        "The file at \(path) was replaced or removed while the store was open; open the store anew."
      )
    }
  }
}

extension DatabaseFile.Problem {
  /// The sentence for the person who named the path.
  var storeError: StoreError {
    switch self {
    case .notFound(let path):
      StoreError(.fileNotFound, "There is no file at \(path).")
    case .directoryNotFound(let path):
      StoreError(.fileNotFound, "There is no directory \(path); create it first.")
    case .isDirectory(let path):
      StoreError(.unsafeLocation, "\(path) is a directory; name a file in it.")
    case .isSymbolicLink(let path):
      StoreError(.unsafeLocation, "\(path) is a symbolic link; open the file that it names.")
    case .notAFile(let path):
      StoreError(.unsafeLocation, "\(path) is not a regular file.")
    case .unusableName(let path):
      StoreError(
        .unsafeLocation,
        "\(path.debugDescription) cannot name a store: it is too long for SQLite or contains a NUL character."
      )
    case .unsafeCompanion(let path):
      StoreError(
        .unsafeLocation,
        "\(path) is not a file of this store alone (a link or a directory). SQLite would write through it; find out who made it, then remove it."
      )
    case .tooShort(let path, let size):
      StoreError(
        .notADatabase, "\(path) is not an SQLite database: it has only \(size) bytes.")
    case .hardLinked(let path, let count):
      StoreError(
        .unsafeLocation,
        "\(path) has \(count) names (hard links); a store must have one. Remove the others.")
    case .networkFileSystem(let path):
      StoreError(
        .unsafeLocation,
        "\(path) is on a network or FUSE file system, whose locks SQLite cannot rely on. Keep the store on a local disk."
      )
    case .directoryWritableByAnyone(let path):
      StoreError(
        .unsafeLocation,
        "Anyone may replace files in \(path). Remove the permission (chmod o-w) or set the sticky bit."
      )
    case .refused(let path, let number):
      StoreError(.permissionDenied, "\(path): \(String(cString: strerror(number))).")
    }
  }
}
