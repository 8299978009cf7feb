import ArgumentParser

/// `generate mermaid`: the models as a diagram in Mermaid.
struct GenerateMermaidCommand: GeneratingCommand {
  static let configuration = CommandConfiguration(
    commandName: "mermaid", abstract: "Draw the models as a Mermaid diagram.",
    discussion: """
      Example: storecli generate mermaid --to models.mmd
      A dashed line is a binding.
      """)

  @OptionGroup var generation: GenerationOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func generated(from opened: OpenedStore) throws -> (text: String, notes: [String]) {
    let description = try StoreDescription(of: opened, names: generation.models)
    return (ModelDiagram(description).mermaid, [])
  }
}
