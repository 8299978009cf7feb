#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// W5: a transaction that updates all fields of one record, by key, BEGIN and COMMIT included.
struct CommitWorkload {
  let synchronous: DurabilityPolicy.Synchronous
  /// The records in the table.
  let count: Int
  /// The maximum number of transactions in one run.
  let commitCount = 2_000

  var workload: Workload {
    let level = synchronous == .full ? "full" : "normal"
    return Workload(
      id: "W5-\(level)",
      title: "one-row write transaction (\(level.uppercased()))",
      unit: "commit",
      contenders: { sqliteContenders + grdbContenders + modelStoreContenders })
  }

  /// Throws unless the WAL of the database at `path` grew by a page for each of `commits`, if the
  /// log was empty when the run began.
  ///
  /// An UPDATE that stores the existing bytes dirties no page, and its COMMIT neither writes nor
  /// syncs. A run of such updates would measure nothing.
  static func requireLogged(commits: Int, at path: String) throws {
    var log = stat()
    // The smallest page and its frame header:
    // https://sqlite.org/fileformat2.html#the_write_ahead_log
    let frameSizeMin = 512 + 24
    guard stat(path + "-wal", &log) == 0, Int(log.st_size) >= commits * frameSizeMin else {
      throw BenchmarkFailure("\(commits) commits did not reach the log of \(path).")
    }
  }
}

/// The rows that the write transactions store, the same for every contender, and never the same
/// twice.
struct RowSource {
  private let count: Int
  private var generator = SeededGenerator(seed: 0xC0_3317)

  /// Rows for a table whose keys are 1 to `count`.
  init(count: Int) {
    self.count = count
  }

  mutating func next() -> Track {
    Track(
      id: Int64.random(in: 1...Int64(count), using: &generator),
      title: Track.randomTitle(using: &generator),
      milliseconds: Int64.random(in: 1_000..<600_000, using: &generator),
      rating: Double(Int.random(in: 0...500, using: &generator)) / 100)
  }
}
