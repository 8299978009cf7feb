/// The exit status of a command. Frozen: scripts depend on these numbers.
///
/// A command whose reader closed the pipe ends by `SIGPIPE` instead; see
/// ``Console/endByBrokenPipe()``.
enum ExitCode: Int32, CaseIterable, Sendable {
  /// The command did what it was asked.
  case ok = 0
  /// The command failed for a reason that has no code of its own.
  case failed = 1
  /// A check found something: drift, pending migrations, findings, a difference.
  case found = 2
  /// The database, model, field or record named does not exist.
  case notFound = 3
  /// A validator or a constraint refused the write; nothing was written.
  case rejected = 4
  /// The database is locked by another process; trying again later can succeed.
  case busy = 5
  /// The schema in the file is newer than this program.
  case newerSchema = 6
  /// The command line was wrong; `EX_USAGE` of `sysexits.h`.
  case usage = 64
  /// Ctrl-C stopped the command.
  case interrupted = 130
  /// SIGTERM stopped the command. The process ends by the signal, which a shell reports as this.
  case terminated = 143

  /// The line for this code in `storecli help exit-codes`.
  var summary: String {
    switch self {
    case .ok: "ok"
    case .failed: "failed"
    case .found: "a check found something"
    case .notFound: "not found"
    case .rejected: "rejected by a validator or a constraint"
    case .busy: "database busy or locked, try again"
    case .newerSchema: "schema newer than this program"
    case .usage: "wrong usage"
    case .interrupted: "interrupted"
    case .terminated: "ended by SIGTERM"
    }
  }
}
