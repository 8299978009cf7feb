import CFaultVFS
import CSQLite
import FaultLedger
import Glibc
import ModelStore

/// A ledger to damage whose bytes are the same each time it is written, with SQLite's randomness
/// seeded and with the ids, times and process numbers of its transactions replaced by fixed ones.
///
/// It needs `SWIFT_DETERMINISTIC_HASHING` in the environment: the order in which tables and
/// triggers are created may depend on the order of sets.
struct Sample {
  let path: String

  private static let transactionCount: Int64 = 75
  /// Transactions that only the log of the killed writer holds.
  private static let loggedCount: Int64 = 20

  struct Failure: Error {
    let message: String
  }

  /// - Parameter isKilled: Whether this process ends like a killed writer and leaves a log.
  func write(isKilled: Bool) throws {
    guard fault_vfs_seed_randomness(1) == SQLITE_OK else {
      throw Failure(message: "SQLite's randomness takes no seed")
    }
    let ledger = try Ledger(at: path)
    for number in 1...Self.transactionCount { try ledger.write(number) }
    let findings = try ledger.findings(acknowledged: Self.transactionCount)
    guard findings == [] else { throw Failure(message: "\(findings)") }
    ledger.store.close()

    var opened: OpaquePointer?
    guard sqlite3_open(path, &opened) == SQLITE_OK, let database = opened else {
      throw Failure(message: "cannot open \(path)")
    }
    try execute(Self.fixedValues, on: database)
    guard isKilled else {
      sqlite3_close(database)
      return
    }
    try execute("PRAGMA wal_autocheckpoint = 0", on: database)
    for number in Self.transactionCount + 1...Self.transactionCount + Self.loggedCount {
      try execute(Self.transaction(number), on: database)
    }
    kill(getpid(), SIGKILL)
  }

  /// VACUUM writes each page again, so that no replaced value stays in unused bytes. The texts of
  /// the table Note take overflow pages, and deleting half of them fills the freelist.
  private static let fixedValues = """
    UPDATE _ms_journal
    SET c1 = (c0 << 23) | 5, c2 = 1700000000000000 + position, c3 = 'FaultWriter', c4 = 1
    WHERE layout = 0 AND entry = 1;
    UPDATE _ms_migrations
    SET applied_at = '2026-01-01T00:00:00.000Z', duration = iif(duration IS NULL, NULL, 1000);
    INSERT INTO _ms_journal_consumers VALUES ('reader', 3, 1, 1700000000000000);
    CREATE TABLE Note (id INTEGER PRIMARY KEY, body TEXT);
    VACUUM;
    WITH RECURSIVE number (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number WHERE n < 40)
    INSERT INTO Note SELECT n, replace(hex(zeroblob(5000)), '00', char(64 + n)) FROM number;
    DELETE FROM Note WHERE id % 2 = 1;
    PRAGMA wal_checkpoint(TRUNCATE);
    """

  /// A transaction of the ledger with its commit record, as a store writes it.
  private static func transaction(_ number: Int64) -> String {
    let rows = [number, -number].map { id in
      let deposit = Deposit(id: id)
      return "(\(id), \(deposit.accountID), \(deposit.amount))"
    }
    return """
      BEGIN IMMEDIATE;
      CREATE TEMP TABLE IF NOT EXISTS place (first INTEGER);
      DELETE FROM place;
      INSERT INTO place SELECT max(position) + 1 FROM _ms_journal;
      INSERT INTO Deposit (id, accountID, amount) VALUES \(rows.joined(separator: ", "));
      INSERT INTO _ms_journal (layout, entry, c0, c1, c2, c3, c4)
      SELECT 0, 1, first, (first << 23) | 5, 1700000001000000 + first, 'FaultWriter', 1 FROM place;
      COMMIT
      """
  }

  private func execute(_ script: String, on database: OpaquePointer) throws {
    guard sqlite3_exec(database, script, nil, nil, nil) == SQLITE_OK else {
      throw Failure(message: String(cString: sqlite3_errmsg(database)))
    }
  }
}
