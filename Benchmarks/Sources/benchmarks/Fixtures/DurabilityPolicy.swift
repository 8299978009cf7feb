/// The connection settings every contender runs under.
///
/// It sets what costs or saves time, nothing else: a contender keeps its other defaults.
struct DurabilityPolicy {
  /// `PRAGMA synchronous`, by the number SQLite answers with.
  enum Synchronous: Int {
    case normal = 1
    case full = 2
  }

  let synchronous: Synchronous

  /// Name and value as `PRAGMA name` reads back.
  var pragmas: [(name: String, value: String)] {
    [
      ("journal_mode", "wal"),
      ("synchronous", String(synchronous.rawValue)),
      ("cache_size", "-65536"),
      ("secure_delete", "0"),
      ("mmap_size", "0"),
      ("foreign_keys", "1"),
      ("recursive_triggers", "1"),
      // No contender pays for a checkpoint inside a commit. Yardsticks checkpoint between runs.
      ("wal_autocheckpoint", "0"),
    ]
  }

  /// The statements that put the policy in force on a fresh connection.
  var statements: [String] {
    pragmas.map { "PRAGMA \($0.name) = \($0.value)" }
  }
}
