#if Postgres
  internal import ModelStore

  /// Why PostgreSQL or its client library refused something.
  struct PostgresFailure: Error, Hashable {
    /// The code of <https://www.postgresql.org/docs/15/errcodes-appendix.html>; nil if the failure is
    /// the client library's.
    let state: String?
    let text: String
    /// Whether the connection is of no use afterwards.
    let isFatal: Bool

    /// A failure of the connection, which PostgreSQL did not explain.
    static func lost(_ text: String) -> PostgresFailure {
      PostgresFailure(state: nil, text: text, isFatal: true)
    }

    /// The connection's transaction was open and idle for too long, so PostgreSQL ended it. It says
    /// so only while it waits for a statement.
    var isIdleTooLong: Bool { state == "25P03" }

    /// The statement took longer than its limit, or another session ended it.
    var isCancelled: Bool { state == "57014" }

    /// The error for a caller.
    var ledgerError: LedgerError {
      guard let state else { return .unreachable(text) }
      switch state {
      case "28000", "28P01": return .notAuthenticated(text)
      case "42501": return .notPermitted(text)
      case "25006": return .readOnly(text)
      case "55P03": return .timedOut(text)
      case "53100": return .outOfSpace(text)
      // No database, schema, table or column; the database was dropped; a row exists already.
      case "3D000", "3F000", "42P01", "42703", "57P04", "23505": return .mismatch(text)
      // Too many connections; not yet started, shutting down; idle for too long.
      case "53300", "57P01", "57P02", "57P03", "57P05", "25P03": return .unreachable(text)
      default: return state.hasPrefix("08") ? .unreachable(text) : .failed("\(text) (\(state))")
      }
    }
  }
#endif
