/// W19: a new rule of a model, for which its table is copied. The table has a bound field, and the
/// change journal is on. The time includes opening the file, and every check before COMMIT.
struct RebuildWorkload {
  let rowCount: Int

  var workload: Workload {
    Workload(
      id: "W19",
      title: "add a rule to a table of \(rowCount.grouped) rows with a binding and the journal "
        + "(FULL)",
      unit: "row",
      contenders: { sqliteContenders + modelStoreContenders })
  }

  /// What the file has afterwards: the same in each contender.
  static let outcome = """
    SELECT count(*) + sum(milliseconds) + sum(seconds)
      + (SELECT count(*) FROM sqlite_schema WHERE type = 'trigger')
      + (SELECT sql LIKE '%CHECK%' FROM sqlite_schema WHERE name = 'track')
    FROM track
    """

  /// Measures `work`, which adds the rule to the file at the given path, on a fresh file.
  func session(
    in directory: TemporaryDirectory, policy: [String: String],
    _ work: @escaping (_ path: String) throws -> UInt64
  ) throws -> Session {
    let original = try self.original(in: directory)
    let path = directory.file("rebuilt.sqlite")
    return Session(policy: policy) {
      try TemporaryDirectory.replace(path, by: original)
      let elapsed = try work(path)
      let connection = try RawConnection.opened(asFound: path)
      return Measurement(
        .whole(nanoseconds: elapsed, operations: rowCount),
        digest: try connection.integer(Self.outcome))
    }
  }

  /// Returns the file of the earlier version, which no contender changes.
  func original(in directory: TemporaryDirectory) throws -> String {
    try directory.fixture("bound-tracks-\(rowCount).sqlite") { path in
      try makeFile(at: path)
    }
  }
}
