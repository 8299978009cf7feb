import ModelStore
import RecordFormats
import Synchronization

/// Failures that a store reports while a command writes and that roll nothing back. They are
/// printed as warnings when the command ends.
final class Notices: Sendable {
  private let reported = Mutex<[StoreError]>([])
  /// The codes of failures that the command has printed itself.
  private let told = Mutex<Set<String>>([])

  /// Keeps a failure; any thread may call it.
  func add(_ error: StoreError) {
    reported.withLock { $0.append(error) }
  }

  /// Forgets the failures with `code`, which may no longer be true, and keeps `error`.
  func replace(_ code: StoreError.Code, with error: StoreError?) {
    reported.withLock { reported in
      reported.removeAll { $0.code == code }
      if let error { reported.append(error) }
    }
  }

  /// Leaves out failures of a kind that the command prints itself.
  func leaveOut(_ code: String) {
    told.withLock { _ = $0.insert(code) }
  }

  /// Prints one line for each kind of failure, in the order of their first reports.
  ///
  /// - Parameter failure: The command's own error. A warning of the same kind is left out: the
  ///   error says what to do.
  func write(besides failure: CommandError?, to console: Console, _ options: GlobalOptions) {
    var printed = told.withLock(\.self).union([failure?.code].compactMap(\.self))
    for error in reported.withLock(\.self) where printed.insert(error.code.rawValue).inserted {
      console.warn(
        CommandError(error).hinting(database: options.database).warningText(
          as: options.errorFormat, palette: console.talkTerminal.palette))
    }
  }
}
