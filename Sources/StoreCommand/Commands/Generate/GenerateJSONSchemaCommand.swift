import ArgumentParser

/// `generate json-schema`: the records of models as JSON Schema.
struct GenerateJSONSchemaCommand: GeneratingCommand {
  static let configuration = CommandConfiguration(
    commandName: "json-schema", abstract: "Write the records of models as JSON Schema.",
    discussion: """
      Example: storecli generate json-schema Track --to track.schema.json
      The schema (draft 2020-12) describes the JSON that export writes and import reads. With \
      several models, each has a definition in $defs.
      """)

  @OptionGroup var generation: GenerationOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  func generated(from opened: OpenedStore) throws -> (text: String, notes: [String]) {
    let description = try StoreDescription(of: opened, names: generation.models)
    return (try RecordSchema(description).text(), [])
  }
}
