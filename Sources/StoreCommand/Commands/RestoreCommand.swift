import ArgumentParser
import ModelStore
import RecordFormats

/// `restore`: the content of a backup in place of the database's.
struct RestoreCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Replace the content of the database by that of a backup.",
    discussion: """
      Example: storecli restore backup.db -d app.db --yes
      The backup is checked first. The replacement is one transaction: other programs may have the \
      database open, and a crash leaves the earlier content or that of the backup. Their writes \
      wait while pages are copied, and may fail as busy. A database that does not exist is \
      created. Make a backup of the present content first if you may need it: it cannot be \
      undone. Consumers of the change journal continue from their positions at the time of the \
      backup.
      """)

  @Argument(help: ArgumentHelp("The backup.", valueName: "file"), completion: .file())
  var file: String

  @Flag(name: .shortAndLong, help: "Do not ask.")
  var yes = false

  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    let location = try context.location()
    guard !FileIdentity.isSame(file, asAnyOf: location.storePaths) else {
      throw CommandError.usage("\(file) is the database itself. Name a backup of it.")
    }
    // Also refuses what is not a store.
    let backup = try context.openForReading(at: file)
    let position = try backup.store.changeJournal.position()
    backup.store.close()
    if context.isDryRun {
      try context.console.say(
        "dry run: \(location.path) would get the content of \(file), position \(position)")
      return .ok
    }
    let question = "Replace the content of \(location.path) by \(file)?"
    guard
      try !location.exists
        || Confirmation.isGranted(question, isGiven: yes, flag: "--yes", console: context.console)
    else {
      try context.console.say("nothing was changed")
      return .failed
    }
    Interruption.await()
    var progress = Progress(console: context.console)
    let restored: Backup
    do {
      defer { progress.clear() }
      restored = try Store.restore(
        location.path, from: file, configuration: try context.copyConfiguration(of: location)
      ) { done, all in progress.show("pages", done: done, of: all) }
    } catch  where Interruption.explains(error) {
      throw CommandError(
        .interrupted, code: "interrupted", "Interrupted; \(location.path) is unchanged.")
    }
    try context.write(restored)
    return .ok
  }
}
