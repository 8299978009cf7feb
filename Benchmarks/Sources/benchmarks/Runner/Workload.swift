/// One group of rows in the report: the same work done by several contenders.
struct Workload {
  /// The number of the workload, then its variant, such as `W5-full`.
  let id: String
  let title: String
  /// The name of one operation: "row", "record", "commit", "event".
  let unit: String
  /// Returns the contenders. Called once, when the workload's turn comes: it may generate the
  /// fixtures.
  let contenders: () -> [Contender]
}

/// One way to do a workload with one library.
struct Contender {
  /// The library whose code is measured.
  enum Library: String, Codable {
    case sqlite
    case grdb
    case modelStore
  }

  let library: Library
  /// The variant, as it appears in the table.
  let name: String
  /// Creates the files and opens the objects that the runs share. Not timed.
  let open: (TemporaryDirectory) async throws -> Session
}

/// An opened contender, ready to run repeatedly.
struct Session {
  /// The active pragmas, read back through the contender's own connection.
  let policy: [String: String]
  /// Performs one run. It times only the workload itself, and checks its own result.
  let run: () async throws -> Measurement
}
