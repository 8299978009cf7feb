import ArgumentParser
import ModelStore
import RecordFormats

/// `generate`: the models of the file in other languages.
struct GenerateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate", abstract: "Write the models as Swift, JSON Schema, SQL or a diagram.",
    discussion: """
      Examples: storecli generate swift --to Sources/App/Models.swift
      storecli generate mermaid Album Track
      The order of the text is stable, so a change of a model is a small change in version control.
      """,
    subcommands: [
      GenerateSwiftCommand.self, GenerateJSONSchemaCommand.self, GenerateSQLCommand.self,
      GenerateMermaidCommand.self, GenerateDotCommand.self,
    ])
}

/// A command that writes the models as a text.
protocol GeneratingCommand: LeafCommand {
  var generation: GenerationOptions { get }

  /// Returns the text, and sentences about what it leaves out.
  func generated(from opened: OpenedStore) throws -> (text: String, notes: [String])
}

/// The options of every `generate` command.
struct GenerationOptions: ParsableArguments {
  @Argument(help: "The models; all by default.", completion: Completion.model)
  var models: [String] = []

  @Option(help: ArgumentHelp("The file; - for standard output.", valueName: "file"))
  var to = "-"
}

extension GeneratingCommand {
  var hasData: Bool { false }

  func validate() throws {
    guard options.format == nil else {
      throw ValidationError("The command decides what it writes, so it takes no format.")
    }
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    for error in try opened.store.unreadableEntries() { throw error }
    let (text, notes) = try generated(from: opened)
    if generation.to == "-" {
      // A line ends what the console writes.
      try context.console.writeSQL(text.hasSuffix("\n") ? String(text.dropLast()) : text)
    } else {
      Interruption.await()
      let file = try OutputFile(path: generation.to, refusing: opened.location.storePaths)
      try file.sink.append(text)
      try file.close()
      try context.console.say("written to \(generation.to)")
    }
    for note in notes { try context.console.say("note: \(note)") }
    return .ok
  }
}
