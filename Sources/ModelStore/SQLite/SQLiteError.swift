internal import CSQLite

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// An SQLite result code, extended if SQLite reported an extended code:
/// <https://sqlite.org/rescode.html>.
struct ResultCode: RawRepresentable, Hashable, Sendable {
  let rawValue: Int32

  /// The low byte, which all extended codes of a family share.
  var primary: ResultCode { ResultCode(rawValue: rawValue & 0xFF) }

  static let ok = ResultCode(rawValue: SQLITE_OK)
  static let error = ResultCode(rawValue: SQLITE_ERROR)
  static let internalError = ResultCode(rawValue: SQLITE_INTERNAL)
  static let permission = ResultCode(rawValue: SQLITE_PERM)
  static let abort = ResultCode(rawValue: SQLITE_ABORT)
  static let busy = ResultCode(rawValue: SQLITE_BUSY)
  static let locked = ResultCode(rawValue: SQLITE_LOCKED)
  static let outOfMemory = ResultCode(rawValue: SQLITE_NOMEM)
  static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
  static let interrupted = ResultCode(rawValue: SQLITE_INTERRUPT)
  static let ioFailure = ResultCode(rawValue: SQLITE_IOERR)
  static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
  static let full = ResultCode(rawValue: SQLITE_FULL)
  static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
  static let schemaChanged = ResultCode(rawValue: SQLITE_SCHEMA)
  static let tooBig = ResultCode(rawValue: SQLITE_TOOBIG)
  static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
  static let misuse = ResultCode(rawValue: SQLITE_MISUSE)
  static let authorization = ResultCode(rawValue: SQLITE_AUTH)
  static let lockingProtocol = ResultCode(rawValue: SQLITE_PROTOCOL)
  static let range = ResultCode(rawValue: SQLITE_RANGE)
  static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
  static let row = ResultCode(rawValue: SQLITE_ROW)
  /// Not a code of SQLite, whose codes are lower. The store rejected an argument before it called
  /// SQLite.
  static let unstorable = ResultCode(rawValue: 0xFF)
  static let done = ResultCode(rawValue: SQLITE_DONE)

  static let constraintCheck = ResultCode(rawValue: extended(SQLITE_CONSTRAINT, 1))
  static let constraintForeignKey = ResultCode(rawValue: extended(SQLITE_CONSTRAINT, 3))
  static let constraintNotNull = ResultCode(rawValue: extended(SQLITE_CONSTRAINT, 5))
  static let constraintPrimaryKey = ResultCode(rawValue: extended(SQLITE_CONSTRAINT, 6))
  static let constraintTrigger = ResultCode(rawValue: extended(SQLITE_CONSTRAINT, 7))
  static let constraintUnique = ResultCode(rawValue: extended(SQLITE_CONSTRAINT, 8))
  static let constraintRowID = ResultCode(rawValue: extended(SQLITE_CONSTRAINT, 10))
  static let constraintDataType = ResultCode(rawValue: extended(SQLITE_CONSTRAINT, 12))
  static let readOnlyRollback = ResultCode(rawValue: extended(SQLITE_READONLY, 3))
  static let ioWrite = ResultCode(rawValue: extended(SQLITE_IOERR, 3))
  static let corruptVirtualTable = ResultCode(rawValue: extended(SQLITE_CORRUPT, 1))
  static let cannotOpenSymbolicLink = ResultCode(rawValue: extended(SQLITE_CANTOPEN, 6))

  // SQLite's own macros compute these with casts that Swift does not import.
  private static func extended(_ primary: Int32, _ detail: Int32) -> Int32 {
    primary | (detail << 8)
  }
}

/// SQLite's error when a call failed. It is converted to a ``StoreError`` before a caller receives
/// it.
struct SQLiteError: Error, Sendable {
  let code: ResultCode
  let message: String
  let sql: String?
  /// The path of the database file, if SQLite knows it.
  let file: String?
  /// The byte offset in `sql` of the token that caused the error, if SQLite reports one.
  let offset: Int?
  /// The operating system's error number for an I/O failure; 0 if there is none.
  var systemErrno: Int32
  /// How long a write waited for its locks before this error; nil for another call.
  var wait: Duration?

  init(code: ResultCode, message: String, sql: String? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
    file = nil
    offset = nil
    systemErrno = 0
  }

  /// Reads the error of `database` after a call returned `code`.
  init(code: Int32, database: OpaquePointer?, sql: String? = nil) {
    let extended = database.map { sqlite3_extended_errcode($0) } ?? code
    // The connection's code belongs to its latest call. It is valid only if the families are equal.
    let isLatest = extended & 0xFF == code & 0xFF
    self.code = ResultCode(rawValue: isLatest ? extended : code)
    // Binding a value that is too large does not set the connection's error.
    let text = (isLatest ? database : nil).flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
    message = text.map { String(cString: $0) } ?? "unknown error"
    self.sql = sql
    let name = database.flatMap { sqlite3_db_filename($0, "main") }
    file = name.map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    let position = database.map { sqlite3_error_offset($0) } ?? -1
    offset = position >= 0 ? Int(position) : nil
    systemErrno = database.map { sqlite3_system_errno($0) } ?? 0
  }

  /// Whether there was no space for the data to write. SQLite reports only some cases of ENOSPC as
  /// "full": <https://sqlite.org/rescode.html#full>.
  var isForWantOfSpace: Bool {
    switch code.primary {
    case .full: true
    case .ioFailure, .cannotOpen: [EFBIG, ENOSPC, EDQUOT].contains(systemErrno)
    default: false
    }
  }

  /// Whether this version of SQLite cannot parse the SQL of a table, index, view or trigger in the
  /// file. A newer version may have written it.
  var isUnknownSyntax: Bool {
    code.primary == .corrupt && message.hasPrefix("malformed database schema (")
      && (message.contains(") - near \"") || message.contains(") - unrecognized token")
        || message.contains(") - unknown table option"))
  }
}
