/// The SQL that a program may run inside a transaction.
///
/// Everything is allowed except SQL that would end the transaction, open another file, or weaken
/// the connection's safety settings.
enum StatementPolicy {
  /// Checks `sql` before SQLite compiles it: some pragmas take effect during compilation, even
  /// after EXPLAIN (<https://sqlite.org/pragma.html>).
  ///
  /// - Throws: ``StoreError`` with code `misuse`.
  static func check(_ sql: String) throws(StoreError) {
    var keyword = SQLText.firstKeyword(of: sql)
    var words: [String] = []
    if keyword == "EXPLAIN" || keyword == "PRAGMA" {
      words = Self.words(of: sql)
      if keyword == "EXPLAIN" {
        words.removeFirst(min(words.count, words.dropFirst().first == "QUERY" ? 3 : 1))
        keyword = words.first ?? ""
      }
    }
    if transactionControl.contains(keyword) {
      throw StoreError(
        .misuse,
        """
        BEGIN, COMMIT, ROLLBACK, SAVEPOINT, ATTACH, DETACH and VACUUM are reserved for the store; \
        use savepoint { } to undo part of a transaction.
        """)
    }
    if keyword == "CREATE", SQLTokens(sql).createsTemporary {
      throw StoreError(
        .misuse,
        "A temporary table, view or trigger would hide objects of the file; use a table of the file."
      )
    }
    if keyword == "PRAGMA" { try checkPragma(Array(words.dropFirst())) }
  }

  private static func checkPragma(_ words: [String]) throws(StoreError) {
    let isQualified = words.dropFirst().first == "."
    let name = (isQualified ? words.dropFirst(2).first : words.first) ?? ""
    let hasArgument = words.count > (isQualified ? 3 : 1)
    let isAllowed = hasArgument ? takingArguments.contains(name) : !actingAlone.contains(name)
    guard isAllowed else {
      throw StoreError(
        .misuse,
        "PRAGMA \(name.lowercased()) would change how the store uses its file; see StoreConfiguration."
      )
    }
  }

  /// Returns the words and symbols of `sql` in upper case, without quotes around names.
  private static func words(of sql: String) -> [String] {
    let source = SQLTokens(sql)
    return source.significant
      .map { token in source.name(token).uppercased() }
      .filter { $0 != ";" }
  }

  private static let transactionControl: Set<String> = [
    "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "ATTACH", "DETACH", "VACUUM",
  ]

  /// Pragmas that only read even with an argument, or set a property of the file or the
  /// transaction.
  private static let takingArguments: Set<String> = [
    "APPLICATION_ID", "DEFER_FOREIGN_KEYS", "FOREIGN_KEY_CHECK", "FOREIGN_KEY_LIST",
    "INDEX_INFO", "INDEX_LIST", "INDEX_XINFO", "INTEGRITY_CHECK", "QUICK_CHECK", "TABLE_INFO",
    "TABLE_LIST", "TABLE_XINFO", "USER_VERSION",
  ]

  /// Pragmas that do more than read, even without an argument.
  private static let actingAlone: Set<String> = [
    "INCREMENTAL_VACUUM", "OPTIMIZE", "SHRINK_MEMORY", "WAL_CHECKPOINT",
  ]
}
