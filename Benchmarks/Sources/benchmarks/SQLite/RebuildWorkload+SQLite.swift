extension RebuildWorkload {
  /// The table with the rule, under a temporary name.
  private static let newTable = """
    CREATE TABLE new_track (
      id INTEGER PRIMARY KEY,
      title TEXT NOT NULL,
      milliseconds INTEGER NOT NULL CONSTRAINT "Track.milliseconds.range" CHECK (milliseconds >= 0),
      rating REAL NOT NULL,
      seconds INTEGER
    ) STRICT
    """

  /// SQLite's own procedure, as one writes it by hand in the `sqlite3` shell:
  /// <https://sqlite.org/lang_altertable.html#otheralter>.
  var sqliteContenders: [Contender] {
    [
      Contender(library: .sqlite, name: "SQLite C API, its twelve steps") { directory in
        let path = try original(in: directory)
        let policy = try RawConnection(path: path, synchronous: .full).policy()
        return try session(in: directory, policy: policy) { path in
          let start = Stopwatch.now
          let connection = try RawConnection(path: path, synchronous: .full)
          try rebuild(connection)
          return Stopwatch.now - start
        }
      }
    ]
  }

  private func rebuild(_ connection: RawConnection) throws {
    try connection.execute("PRAGMA foreign_keys = OFF")
    try connection.execute("BEGIN IMMEDIATE")
    let texts = try connection.prepare(
      """
      SELECT sql FROM sqlite_schema
      WHERE tbl_name = 'track' AND type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY rowid
      """
    ).all(connection) { $0.text(0) }
    try connection.execute(Self.newTable)
    try connection.execute("INSERT INTO new_track SELECT * FROM track")
    try connection.execute("DROP TABLE track")
    try connection.execute("PRAGMA legacy_alter_table = ON")
    try connection.execute("ALTER TABLE new_track RENAME TO track")
    try connection.execute("PRAGMA legacy_alter_table = OFF")
    for text in texts { try connection.execute(text) }
    let broken = try connection.prepare("PRAGMA foreign_key_check").all(connection) { $0.text(0) }
    guard broken.isEmpty else { throw BenchmarkFailure("References are broken: \(broken).") }
    try connection.execute("COMMIT")
    try connection.execute("PRAGMA foreign_keys = ON")
  }
}
