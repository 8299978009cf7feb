import ArgumentParser
import ModelStore

/// `mirror`: copies of the records in PostgreSQL.
struct MirrorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mirror", abstract: "Copy records to PostgreSQL, for programs that read SQL.",
    subcommands: [
      MirrorUpdateCommand.self, MirrorVerifyCommand.self, MirrorRebuildCommand.self,
      MirrorRemoveCommand.self,
    ])
}

/// The report of what an update of a mirror did.
enum MirrorText {
  static func text(of progress: MirrorProgress) -> String {
    let count = Grouped.text(progress.recordCount, "record")
    let complete =
      progress.rebuilt.isEmpty ? "" : "; all of \(progress.rebuilt.joined(separator: ", "))"
    return "the mirror is at position \(progress.position): \(count) written\(complete)"
  }
}

/// The options that name a mirror.
struct MirrorOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The schema of the tables in PostgreSQL.", valueName: "name"))
  var schema = "mirror"
}

extension CommandContext {
  /// The mirror that the options and the environment name.
  ///
  /// - Throws: ``CommandError`` if nothing says where it is, or this program has no mirrors.
  func mirror(_ mirror: MirrorOptions) throws -> any RecordMirror {
    let name = DatabaseLocation.mirrorEnvironmentName
    let own = surroundings.variables([name])[name].flatMap { $0.isEmpty ? nil : $0 }
    guard let connection = try own ?? ledgerConnection(of: location()) else {
      throw CommandError.usage(
        "Say where the mirror is: set \(name) to a connection of PostgreSQL.",
        hint: "storecli help environment")
    }
    guard let makeMirror = application.makeMirror else {
      throw CommandError.withoutPostgres(code: "noMirror")
    }
    return try makeMirror(connection, mirror.schema)
  }

  /// Opens the database whose records a mirror gets. A member of a shared store is opened for
  /// writing, so that it has the newest commits.
  func openToMirror(
    onReplacement: (@Sendable (StoreError) -> Void)? = nil
  ) throws -> OpenedStore {
    let opened = try openForReading(onReplacement: onReplacement)
    guard let name = try opened.store.sharedStoreName() else { return opened }
    _ = try ledger(of: opened.location, store: name)
    opened.close()
    return try openToFollow { error in onReplacement?(error) }
  }
}
