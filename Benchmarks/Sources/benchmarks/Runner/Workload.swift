/// One row group of the report: the same work done by several contenders.
struct Workload {
  /// `W5-full`: the number of the workload, then its variant.
  let id: String
  let title: String
  /// What one operation is: "row", "record", "commit", "event".
  let unit: String
  /// Those who do it. Called once, when the workload's turn comes: it may generate the fixtures.
  let contenders: () -> [Contender]
}

/// One way to do a workload with one library.
struct Contender {
  /// Whose code is measured.
  enum Library: String, Codable {
    case sqlite
    case grdb
    case modelStore
  }

  let library: Library
  /// The variant, as it appears in the table.
  let name: String
  /// Creates the files and opens what the runs share. Not timed.
  let open: (TemporaryDirectory) async throws -> Session
}

/// An opened contender, ready to be run again and again.
struct Session {
  /// The pragmas in force, read back through the contender's own connection.
  let policy: [String: String]
  /// One run. It times only what the workload is about, and checks its own result.
  let run: () async throws -> Measurement
}
