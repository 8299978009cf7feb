internal import CSQLite

/// The settings and limits of every connection to SQLite, for any purpose. Each setting is a
/// separate safety decision: <https://sqlite.org/security.html>.
enum ConnectionSafety {
  /// The longest pattern of LIKE and GLOB, in bytes. In the worst case, the time of one comparison
  /// is proportional to the pattern length times the text length. SQLite cannot be interrupted
  /// during it.
  static let patternByteCountMax = 1_000

  private static let switches: [(option: Int32, isOn: Bool)] = [
    (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false), (SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
    (SQLITE_DBCONFIG_TRUSTED_SCHEMA, false), (SQLITE_DBCONFIG_DEFENSIVE, true),
    (SQLITE_DBCONFIG_DQS_DML, false), (SQLITE_DBCONFIG_DQS_DDL, false),
    (SQLITE_DBCONFIG_ENABLE_FKEY, true),
  ]

  private static let limits: [(limit: Int32, value: Int)] = [
    (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, patternByteCountMax),
  ]

  /// Applies the settings to the connection `handle`. Call it before the first statement.
  ///
  /// - Parameter maxValueSize: The longest text, blob or row that the connection reads or writes,
  ///   in bytes. It also limits the results of functions such as `zeroblob` and `replace`.
  static func apply(to handle: OpaquePointer, maxValueSize: Int = .max) {
    for (option, isOn) in switches { set(option, isOn ? 1 : 0, on: handle) }
    for (limit, value) in limits { sqlite3_limit(handle, limit, Int32(value)) }
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(clamping: max(1, maxValueSize)))
  }

  /// Sets an option of the connection `handle` that SQLite knows.
  static func set(_ option: Int32, _ value: Int32, on handle: OpaquePointer) {
    let code = csqlite_db_config_set(handle, option, value)
    precondition(code == SQLITE_OK, "SQLite refused the connection option \(option).")
  }
}

extension Connection {
  /// Runs `body`, in which a text in double quotes may be a string, as SQLite reads the texts in
  /// `sqlite_schema`. Only for texts that a file has already:
  /// <https://sqlite.org/quirks.html#dblquote>.
  func readingQuotedStrings<Result>(_ body: () throws -> Result) rethrows -> Result {
    ConnectionSafety.set(SQLITE_DBCONFIG_DQS_DDL, 1, on: handle)
    defer { ConnectionSafety.set(SQLITE_DBCONFIG_DQS_DDL, 0, on: handle) }
    return try body()
  }
}

extension SQLiteError {
  /// The message for a limit of ``ConnectionSafety`` that a statement exceeded; nil for other
  /// failures.
  var limitSentence: String? {
    if code.primary == .error, message == "LIKE or GLOB pattern too complex" {
      return """
        A LIKE or GLOB pattern is longer than \(ConnectionSafety.patternByteCountMax) bytes, which \
        is the limit. Shorten the pattern, or search with instr().
        """
    }
    guard code.primary == .tooBig, message != "statement too long" else { return nil }
    return """
      A value or record is larger than this store accepts (\(message)). See \
      StoreConfiguration.maxValueSize.
      """
  }
}
