import ArgumentParser
import ModelStore

/// `mirror remove`: deletes a mirror.
struct MirrorRemoveCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Delete a mirror's tables in PostgreSQL.",
    discussion: """
      Examples: storecli mirror remove
      storecli mirror remove Track
      Without names, the whole mirror is deleted. The database is not changed. PostgreSQL refuses \
      it while a view needs one of the tables.
      """)

  @Argument(help: "Models to leave out of the mirror.", completion: Completion.model)
  var models: [String] = []

  @OptionGroup var mirror: MirrorOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    guard try context.mirror(mirror).remove(models: models.isEmpty ? nil : models) else {
      try context.console.say("the schema \(mirror.schema) has no mirror")
      return .ok
    }
    let what = models.isEmpty ? "the mirror" : models.joined(separator: ", ")
    try context.console.say("removed \(what) in the schema \(mirror.schema)")
    return .ok
  }
}
