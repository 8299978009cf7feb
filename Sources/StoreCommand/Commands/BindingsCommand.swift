import ArgumentParser
import ModelStore
import RecordFormats

/// `bindings`: the fields that the file itself keeps in sync.
struct BindingsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bindings",
    abstract: "List, add, explain, check, repair and drop bindings.",
    subcommands: [
      BindingsListCommand.self, BindingsAddCommand.self, BindingsWhyCommand.self,
      BindingsCheckCommand.self, BindingsRebuildCommand.self, BindingsDropCommand.self,
    ], defaultSubcommand: BindingsListCommand.self)
}

/// `bindings list`: which field follows what.
struct BindingsListCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the bindings.",
    discussion: "Example: storecli bindings list")

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var isPaged: Bool { true }

  func run(_ context: CommandContext) throws -> ExitCode {
    let bindings = try context.openForReading().store.bindings()
    try context.writeReport(
      of: "binding",
      columns: [
        OutputColumn("binding", role: .key), OutputColumn("model"), OutputColumn("field"),
        OutputColumn("formula"),
      ],
      rows: bindings.map { binding in
        [
          .text(binding.name), .text(binding.target.model), .text(binding.target.field),
          .text(binding.description),
        ]
      })
    return .ok
  }
}
