import ArgumentParser
import ModelStore

/// `rules drop`: one rule that was added.
struct RulesDropCommand: ChangingCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Drop a rule that was added.",
    discussion: """
      Example: storecli rules drop Track.composer.required
      Records stay as they are. To drop a rule in a table's definition, write a migration.
      """)

  @Argument(help: "The rule's name.", completion: Completion.rule)
  var name: String

  @OptionGroup var change: ChangeOptions
  @OptionGroup(title: "Common options") var options: GlobalOptions

  var hasData: Bool { false }

  func run(_ context: CommandContext) throws -> ExitCode {
    let drop = CatalogDrop(
      noun: "rule", code: .unknownRule, list: "storecli rules list",
      names: { try $0.rules().map(\.name) },
      drop: { context in
        var opened = try context.openForWriting()
        try context.changeCatalog(through: &opened) { try $0.dropRule(name) }
      })
    try drop.run(name, context) { store in
      if let reason = try reasonToStay(in: store) {
        throw CommandError(.failed, code: "unsupportedSchema", reason)
      }
    }
    return .ok
  }

  /// Why a rule that was not added cannot be dropped; nil if no rule has the name.
  private func reasonToStay(in store: Store) throws -> String? {
    for model in store.schema.models
    where (model.fields.flatMap(\.rules) + model.rules).contains(where: { $0.name == name }) {
      return "The rule \(name) is in the definition of the table \(model.table); "
        + "write a migration to change it."
    }
    guard try store.declaredValidators().contains(where: { $0.name == name }) else { return nil }
    return "The rule \(name) is a validator in Swift; change the program that declares it."
  }
}
