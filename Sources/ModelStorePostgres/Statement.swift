#if Postgres
  /// A statement of the ledger.
  struct Statement: Sendable {
    /// By which a connection keeps it after its first use; nil for a statement that runs rarely. At
    /// most 15 letters, so that comparing names is fast.
    let name: String?
    let sql: String
    /// What it does to the connection's transaction.
    let effect: Effect

    enum Effect: Sendable {
      case none, begins, ends
    }

    init(_ name: String?, _ sql: String, _ effect: Effect = .none) {
      self.name = name
      self.sql = sql
      self.effect = effect
    }

    static func once(_ sql: String) -> Statement { Statement(nil, sql) }

    /// For whom a COMMIT waits: two columns.
    static let replication =
      "current_setting('synchronous_standby_names'), current_setting('synchronous_commit')"

    static let begin = Statement("ms_begin", "BEGIN ISOLATION LEVEL READ COMMITTED", .begins)
    static let beginReading = Statement(
      nil, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", .begins)
    static let commit = Statement("ms_commit", "COMMIT", .ends)
    static let rollBack = Statement("ms_rollback", "ROLLBACK", .ends)

    /// Limits for the running transaction, in milliseconds: waiting for locks, a statement, and
    /// waiting for the next statement.
    static let limit = Statement(
      "ms_limit",
      """
      SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
        set_config('idle_in_transaction_session_timeout', $3, true)
      """)
    /// Limits for the connection, in milliseconds: waiting for locks, and a statement.
    static let lockLimit = Statement(
      "ms_lock_limit",
      """
      SELECT set_config('lock_timeout', $1, false), set_config('statement_timeout', $2, false)
      """)
    /// Limits for the connection, and what the server says about itself.
    static let greet = once(
      """
      SELECT set_config('statement_timeout', $1, false),
        set_config('idle_in_transaction_session_timeout', $2, false),
        set_config('client_min_messages', 'warning', false),
        current_setting('transaction_read_only'), \(replication),
        current_setting('fsync'), pg_is_in_recovery()::text,
        extract(epoch FROM pg_postmaster_start_time())::text
      """)
    /// Makes the server plan each statement once. Otherwise it plans those that compare a commit's
    /// number for each run, which takes longer than running them
    /// (<https://www.postgresql.org/docs/15/sql-prepare.html>, Notes). A kept plan assumes that a
    /// third of the commits match. So three things are turned off: scans of the whole table,
    /// bitmaps, after which the rows would be sorted, and the compilation of plans.
    static let keepPlans = once(
      """
      SELECT set_config('plan_cache_mode', 'force_generic_plan', false),
        set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false),
        set_config('jit', 'off', false)
      """)
    static let workLimit = Statement(
      "ms_work_limit", "SELECT set_config('statement_timeout', $1, false)")
    /// Every role may run it, also one that only reads. It waits for the standby although the
    /// role's own commits may not.
    static let commitMessage = Statement(
      "ms_message",
      """
      DO 'BEGIN PERFORM set_config(''synchronous_commit'', ''on'', true),
        pg_logical_emit_message(true, ''modelstore'', ''''); COMMIT; END'
      """)
    /// Has the COMMIT of the running transaction wait for the standby, although those of the role
    /// may not.
    static let awaitStandby = Statement("ms_await", "SET LOCAL synchronous_commit = on")
    static let notify = Statement("ms_notify", "SELECT pg_notify($1, $2)")
  }

  /// A value in a statement, in PostgreSQL's binary form.
  enum Argument {
    case text(String)
    case integer(Int64)
    case bytes([UInt8])
    case array(ArrayArgument)

    /// The type's number in `pg_type`.
    var type: UInt32 {
      switch self {
      case .text: 25
      case .integer: 20
      case .bytes: 17
      case .array(let array): array.form.arrayNumber
      }
    }

    /// How many bytes the value has.
    var byteCount: Int {
      switch self {
      case .text(let text): text.utf8.count
      case .integer: 8
      case .bytes(let bytes): bytes.count
      case .array(let array): array.encodedByteCount
      }
    }

    /// Adds the value to `bytes`.
    func encode(to bytes: inout [UInt8]) {
      switch self {
      case .text(let text): bytes.append(contentsOf: text.utf8)
      case .integer(let number):
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
      case .bytes(let value): bytes.append(contentsOf: value)
      case .array(let array): array.encode(to: &bytes)
      }
    }
  }
#endif
