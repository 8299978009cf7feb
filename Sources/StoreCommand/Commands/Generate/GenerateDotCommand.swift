import ArgumentParser

/// `generate dot`: the models as a diagram for Graphviz.
struct GenerateDotCommand: GeneratingCommand {
  static let configuration = CommandConfiguration(
    commandName: "dot", abstract: "Draw the models as a diagram for Graphviz.",
    discussion: """
      Example: storecli generate dot | dot -Tsvg > models.svg
      A dashed line is a binding.
      """)

  @OptionGroup var generation: GenerationOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func generated(from opened: OpenedStore) throws -> (text: String, notes: [String]) {
    let description = try StoreDescription(of: opened, names: generation.models)
    return (ModelDiagram(description).dot, [])
  }
}
