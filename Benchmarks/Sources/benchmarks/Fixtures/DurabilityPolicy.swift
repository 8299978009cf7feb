/// The connection settings of every contender.
///
/// It sets only what costs or saves time. A contender keeps its other defaults.
struct DurabilityPolicy {
  /// `PRAGMA synchronous`, by the number that SQLite returns.
  enum Synchronous: Int {
    case normal = 1
    case full = 2
  }

  let synchronous: Synchronous

  /// The name and value that `PRAGMA name` returns.
  var pragmas: [(name: String, value: String)] {
    [
      ("journal_mode", "wal"),
      ("synchronous", String(synchronous.rawValue)),
      ("cache_size", "-65536"),
      ("secure_delete", "0"),
      ("mmap_size", "0"),
      ("foreign_keys", "1"),
      ("recursive_triggers", "1"),
      // No contender pays for a checkpoint inside a commit. The others checkpoint between runs.
      ("wal_autocheckpoint", "0"),
    ]
  }

  /// The statements that apply the policy to a new connection.
  var statements: [String] {
    pragmas.map { "PRAGMA \($0.name) = \($0.value)" }
  }
}
