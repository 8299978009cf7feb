import ArgumentParser
import ModelStore

/// `bindings drop`: ends one binding.
struct BindingsDropCommand: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Drop a binding; its field keeps its present values.",
    discussion: """
      Example: storecli bindings drop Album.artistName
      A program that declares the binding installs it again when it opens the file. Where the field \
      has other bindings, it follows the next of them from now on.
      """)

  @Argument(help: "The binding's name.")
  var name: String

  @OptionGroup var write: WriteOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let looked = try context.openToLook()
    let bindings = try looked.store.bindings()
    guard let binding = bindings.first(where: { $0.name == name }) else {
      throw CommandError.unknown(
        "binding", name, among: bindings.map(\.name), code: .unknownBinding,
        list: "storecli bindings list")
    }
    if bindings.contains(where: { $0.target == binding.target && $0 != binding }) {
      for model in try binding.writtenModels(among: bindings, in: looked.store) {
        _ = try looked.writableModel(named: model, write)
      }
    }
    looked.store.close()
    let count = try context.openForWriting().store.dropBinding(
      name, mode: context.isDryRun ? .preview : .commit)
    let would = context.isDryRun ? "would be " : ""
    try context.console.say("\(would)dropped \(name)")
    if count > 0 {
      try context.console.say(
        "\(Grouped.text(count, "record")) \(would)updated by the next binding of "
          + "\(binding.target)")
    }
    if context.isDryRun { try context.console.say("dry run: nothing was dropped") }
    return .ok
  }
}
