import ArgumentParser
import ModelStore
import RecordFormats

/// `backup`: a copy of one state of the database, while others write.
struct BackupCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy the database to a file, while others write.",
    discussion: """
      Example: storecli backup backup.db --replace
      The copy is one state of the database: every commit up to its journal position, and nothing \
      later. It is one file without a log, and only you can read it. It is checked before it gets \
      its name. A crash, Ctrl-C or a full disk leaves no file, or the earlier one. --replace \
      refuses a database that a program has open.
      """)

  @Argument(
    help: ArgumentHelp("Where to write the copy.", valueName: "file"), completion: .file())
  var file: String

  @Flag(help: "Replace the file if it exists.")
  var replace = false

  @OptionGroup(title: "Common options") var options: GlobalOptions

  func validate() throws {
    guard file != "-" else {
      throw ValidationError("A backup is a file, so it cannot go to standard output.")
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    Interruption.await()
    let opened = try context.openForReading()
    guard !FileIdentity.isSame(file, asAnyOf: opened.location.storePaths) else {
      throw CommandError(
        .failed, code: StoreError.Code.misuse.rawValue,
        "\(file) is the database itself, or a file of it.",
        hint: "choose another name for the copy")
    }
    var progress = Progress(console: context.console)
    let backup: Backup
    do {
      defer { progress.clear() }
      backup = try opened.store.backup(
        to: file, existing: replace ? .replace : .keep
      ) { done, all in progress.show("pages", done: done, of: all) }
    } catch let error as StoreError where error.code == .fileExists {
      throw CommandError(
        .failed, code: error.code.rawValue, "There is already a file at \(file).",
        hint: "choose another name, or add --replace")
    } catch let error as StoreError where error.code == .fileNotFound {
      var missing = CommandError(error)
      missing.hint = nil
      throw missing
    } catch  where Interruption.explains(error) {
      throw CommandError(
        .interrupted, code: "interrupted", "Interrupted; there is no new file at \(file).")
    }
    try context.write(backup)
    return .ok
  }
}

extension CommandContext {
  /// Writes what is known about a backup.
  func write(_ backup: Backup) throws {
    var writer = try reportWriter(
      columns: [OutputColumn("file"), OutputColumn("position"), OutputColumn("bytes")])
    try writer.write([
      .text(backup.path), .integer(backup.position.rawValue), .integer(backup.byteCount),
    ])
    try finish(writer)
  }
}
