import ArgumentParser
import ModelStore

/// `bindings drop`: ends one binding.
struct BindingsDropCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Drop a binding; its field keeps the values that it has.",
    discussion: """
      Example: storecli bindings drop Album.artistName
      A program that declares the binding installs it again when it opens the file.
      """)

  @Argument(help: "The binding's name.")
  var name: String

  @OptionGroup var write: WriteOptions
  @OptionGroup var options: GlobalOptions

  var takesFields: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openForReading()
    let names = try looked.store.bindings().map(\.name)
    guard names.contains(name) else {
      throw CommandError(
        .notFound, code: "unknownBinding",
        "There is no binding \(name)"
          + CommandError.meant(NearMiss.suggestions(for: name, among: names)),
        hint: "storecli bindings list")
    }
    looked.store.close()
    if write.dryRun {
      try context.console.say("dry run: \(name) was not dropped")
      return .ok
    }
    try context.openForWriting(write).store.dropBinding(name)
    try context.console.say("dropped \(name)")
    return .ok
  }
}
