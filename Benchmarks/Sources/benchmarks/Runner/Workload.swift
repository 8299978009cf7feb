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
  /// Whether the contenders are libraries or programs, which decides how their ratios are titled.
  var peers = Peers.libraries

  enum Peers: String, Codable {
    case libraries
    /// The command line beside the `sqlite3` shell and `sqlite-utils`.
    case programs
  }
}

/// One way to do a workload with one library.
struct Contender {
  /// The library whose code is measured.
  enum Library: String, Codable, CaseIterable {
    /// The C API; among programs the `sqlite3` shell.
    case sqlite
    case grdb
    /// The library, and its command line.
    case modelStore
    case sqliteUtils
    /// PostgreSQL through its C library.
    case postgres
  }

  let library: Library
  /// The variant, as it appears in the table.
  let name: String
  /// The most runs of a contender that takes many times longer than all others. If there is such a
  /// limit, it has no warm-up run either.
  var runCountMax: Int?
  /// Creates the files and opens the objects that the runs share. Not timed.
  ///
  /// - Throws: ``MissingPeer`` if the program is not installed here. The workload then runs without
  ///   it, and its report says so.
  let open: (TemporaryDirectory) async throws -> Session
}

/// An opened contender, ready to run repeatedly.
struct Session {
  /// The active pragmas, read back through the contender's own connection.
  let policy: [String: String]
  /// Performs one run. It times only the workload itself, and checks its own result.
  let run: () async throws -> Measurement
}

/// A contender that cannot run on this machine because a program is not installed.
struct MissingPeer: Error {
  /// What is missing, and how to get it.
  let message: String
}
