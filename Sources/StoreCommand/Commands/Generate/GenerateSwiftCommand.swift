import ArgumentParser

/// `generate swift`: the models as Swift source.
struct GenerateSwiftCommand: GeneratingCommand {
  static let configuration = CommandConfiguration(
    commandName: "swift", abstract: "Write the models as Swift source.",
    discussion: """
      Example: storecli generate swift --access public --to Sources/App/Models.swift
      A program with the source opens the file as it is: StoreDeclarations.open(at: PATH) finds no \
      difference. Tables of other programs become structs to read rows with. What Swift cannot \
      declare stays in the file; a comment and standard error name it.
      """)

  @OptionGroup var generation: GenerationOptions

  @Option(
    help: ArgumentHelp(
      "codable, or by-hand for models that are read faster.", valueName: "form"))
  var form = SwiftSource.Form.codable

  @Option(help: ArgumentHelp("internal or public.", valueName: "level"))
  var access = SwiftSource.Access.internal

  @OptionGroup(title: "Common options") var options: GlobalOptions

  func generated(from opened: OpenedStore) throws -> (text: String, notes: [String]) {
    let description = try StoreDescription(of: opened, names: generation.models)
      .loosened(in: opened)
    let source = SwiftSource(description, form: form, access: access)
    return (source.text, source.notes)
  }
}

extension SwiftSource.Form: ExpressibleByArgument {}
extension SwiftSource.Access: ExpressibleByArgument {}
