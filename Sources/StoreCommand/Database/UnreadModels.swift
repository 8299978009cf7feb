import ModelStore
import RecordFormats

/// The models that a command over several could not read, each with the reason. The command goes on
/// with the others, and exits with ``ExitCode/failed`` in the end.
struct UnreadModels {
  private(set) var errors: [CommandError] = []

  var isEmpty: Bool { errors.isEmpty }

  /// Runs `body`, which is about the model called `name`.
  ///
  /// - Returns: What `body` returns; nil when the model cannot be read, which is noted.
  /// - Throws: Other errors of `body`, such as a lock or a full disk.
  mutating func attempt<Result>(_ name: String, _ body: () throws -> Result) throws -> Result? {
    do {
      return try body()
    } catch let error as StoreError where Self.codes.contains(error.code) {
      note(CommandError(error), of: name)
    } catch let error as CommandError where error.isUnreadable {
      note(error, of: name)
    }
    return nil
  }

  /// Notes the entries of the catalog that only a newer program can read.
  mutating func noteUnreadableEntries(of store: Store) throws {
    for error in try store.unreadableEntries() { errors.append(CommandError(error)) }
  }

  /// Notes a binding that was left out because of a table that cannot be read.
  ///
  /// - Parameter hint: The command that helps, where the error itself does not say it.
  mutating func noteBinding(_ name: String, _ error: StoreError, hint: String?) {
    var error = CommandError(error)
    if let hint { error.hint = hint }
    if !error.message.contains(name) { error.message = "\(name): \(error.message)" }
    errors.append(error)
  }

  private mutating func note(_ error: CommandError, of name: String) {
    var error = error
    error.model = name
    if !error.message.contains(name) { error.message = "\(name): \(error.message)" }
    errors.append(error)
  }

  /// Errors that concern one model and not necessarily the others.
  private static let codes: Set<StoreError.Code> = [
    .unsupportedSchema, .schemaMismatch, .outdatedModel, .invalidQuery, .invalidValue, .newerFormat,
    .corrupt,
  ]

  /// Prints which models were left out and why, and returns the exit status.
  ///
  /// - Parameter code: The exit status if all were read.
  func report(to context: CommandContext, otherwise code: ExitCode) throws -> ExitCode {
    for error in errors {
      context.notices.leaveOut(error.code)
      try context.console.report(
        error.hinting(database: context.options.database).text(
          as: context.options.errorFormat, palette: context.console.talkTerminal.palette))
    }
    return errors.isEmpty ? code : .failed
  }
}
