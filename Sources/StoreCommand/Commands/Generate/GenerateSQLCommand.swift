import ArgumentParser

/// `generate sql`: the tables and indexes of models as SQL.
struct GenerateSQLCommand: GeneratingCommand {
  static let configuration = CommandConfiguration(
    commandName: "sql", abstract: "Write the statements that create the tables and indexes.",
    discussion: """
      Example: storecli generate sql --to schema.sql
      Without models, views and triggers of the application are included. What the store keeps in \
      the file, such as the triggers of bindings, is left out: opening the store creates it.
      """)

  @OptionGroup var generation: GenerationOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func generated(from opened: OpenedStore) throws -> (text: String, notes: [String]) {
    let models =
      generation.models.isEmpty
      ? nil : try StoreDescription(of: opened, names: generation.models).models
    return (try SchemaScript(of: opened, models: models).text, [])
  }
}
