#if Postgres
  /// A statement of the ledger.
  struct Statement: Sendable {
    let sql: String
    /// What it does to the connection's transaction.
    let effect: Effect
    /// Whether PostgreSQL keeps it for the next time.
    let isPrepared: Bool

    enum Effect: Sendable {
      case none, begins, ends
    }

    init(_ sql: String, _ effect: Effect = .none, isPrepared: Bool = true) {
      self.sql = sql
      self.effect = effect
      self.isPrepared = isPrepared
    }

    /// A statement that a connection runs rarely.
    static func once(_ sql: String) -> Statement { Statement(sql, isPrepared: false) }

    static let begin = Statement("BEGIN ISOLATION LEVEL READ COMMITTED", .begins)
    static let beginReading = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", .begins)
    static let commit = Statement("COMMIT", .ends)
    static let rollBack = Statement("ROLLBACK", .ends)

    /// Limits for the running transaction, in milliseconds: waiting for locks, a statement, and
    /// waiting for the next statement.
    static let limit = Statement(
      """
      SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
        set_config('idle_in_transaction_session_timeout', $3, true)
      """)
    /// Limits for the connection, and what the server says about itself.
    static let greet = once(
      """
      SELECT set_config('statement_timeout', $1, false),
        set_config('idle_in_transaction_session_timeout', $2, false),
        set_config('client_min_messages', 'warning', false),
        current_setting('fsync'), current_setting('synchronous_commit'),
        current_setting('synchronous_standby_names'), current_setting('transaction_read_only')
      """)
    static let notify = Statement("SELECT pg_notify($1, '')")
  }

  /// A value in a statement, in PostgreSQL's binary form.
  enum Argument {
    case text(String)
    case integer(Int64)
    case bytes([UInt8])

    /// The type's number in `pg_type`.
    var type: UInt32 {
      switch self {
      case .text: 25
      case .integer: 20
      case .bytes: 17
      }
    }

    var encoded: [UInt8] {
      switch self {
      case .text(let text): Array(text.utf8)
      case .integer(let number): withUnsafeBytes(of: number.bigEndian, Array.init)
      case .bytes(let bytes): bytes
      }
    }
  }
#endif
