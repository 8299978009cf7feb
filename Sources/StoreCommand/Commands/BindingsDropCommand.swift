import ArgumentParser
import ModelStore

/// `bindings drop`: ends one binding.
struct BindingsDropCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Drop a binding; its field keeps the values that it has.",
    discussion: """
      Example: storecli bindings drop Album.artistName
      A program that declares the binding installs it again when it opens the file.
      """)

  @Argument(help: "The binding's name.")
  var name: String

  @OptionGroup var change: ChangeOptions
  @OptionGroup var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let drop = CatalogDrop(
      noun: "binding", code: .unknownBinding, list: "storecli bindings list",
      names: { try $0.bindings().map(\.name) }, drop: { try $0.dropBinding(name) })
    try drop.run(name, context)
    return .ok
  }
}
