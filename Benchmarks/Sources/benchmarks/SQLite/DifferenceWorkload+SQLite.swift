import RawSQLite

extension DifferenceWorkload {
  /// The queries that find the differences between two attached files.
  static let differences = """
    SELECT a.id AS id
    FROM main.track AS a JOIN other.track AS b ON b.id = a.id
    WHERE a.title IS NOT b.title OR a.milliseconds IS NOT b.milliseconds
      OR a.rating IS NOT b.rating
    UNION ALL
    SELECT id FROM main.track AS a WHERE NOT EXISTS (SELECT 1 FROM other.track AS b WHERE b.id = a.id)
    UNION ALL
    SELECT id FROM other.track AS b WHERE NOT EXISTS (SELECT 1 FROM main.track AS a WHERE a.id = b.id)
    ORDER BY 1
    """

  var sqliteContenders: [Contender] {
    [
      Contender(library: .sqlite, name: "SQLite C API, joins of the two files") { directory in
        let files = try files(in: directory)
        let connection = try RawConnection(path: files.old, synchronous: .normal)
        try connection.execute("ATTACH '\(files.new)' AS other")
        try connection.execute("PRAGMA other.cache_size = -65536")
        return Session(policy: try connection.policy()) {
          var keys: [Int64] = []
          let timing = try Stopwatch.whole(operations: rowCount) {
            keys = try connection.prepare(Self.differences).all(connection) {
              sqlite3_column_int64($0.handle, 0)
            }
          }
          return Measurement(timing, digest: try digest(of: keys))
        }
      }
    ]
  }
}
