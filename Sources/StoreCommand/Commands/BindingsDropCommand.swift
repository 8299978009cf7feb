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
    func names(_ store: Store) throws -> [String] { try store.bindings().map(\.name) }
    return try Dropping(
      noun: "binding", code: "unknownBinding", list: "storecli bindings list"
    )
    .drop(
      name, names: names, isThere: { try names($0).contains(name) }, write, context,
      by: { try $0.dropBinding(name) })
  }
}
