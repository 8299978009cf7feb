import ArgumentParser
import ModelStore

/// `models`: which models the store has, or what one of them is made of.
struct ModelsCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "models", abstract: "List the models, or describe one.",
    discussion: "Example: storecli models Track")

  @Argument(help: ArgumentHelp("The model to describe.", valueName: "model"))
  var name: String?

  @OptionGroup var options: GlobalOptions

  /// JSON has one model as one object.
  var takesFields: Bool {
    name == nil || options.format != .json && options.format != .ndjson
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    if let name {
      try ModelSheet(schema: try opened.model(named: name), store: opened.store).write(to: context)
    } else {
      try list(opened, context)
    }
    return .ok
  }

  private func list(_ opened: OpenedStore, _ context: CommandContext) throws {
    let store = opened.store
    let models = store.schema.models
    let bindings = try store.bindings()
    let validators = try store.declaredValidators()
    let added = try store.rules()
    var writer = try context.reportWriter(
      columns: [
        OutputColumn("model", role: .key), OutputColumn("records"), OutputColumn("fields"),
        OutputColumn("key"), OutputColumn("rules"), OutputColumn("bindings"),
        OutputColumn("kind"),
      ])
    try opened.read { reads in
      for model in models {
        let rules = model.rules.count + model.fields.reduce(0) { $0 + $1.rules.count }
        let added = added.count { $0.model == model.name }
        let code = validators.count { $0.models.contains(model.name) }
        try writer.write([
          .text(model.name), .integer(Int64(try reads.count(Query<Record>(model)))),
          .integer(Int64(model.fields.count)), .text(model.key.joined(separator: ",")),
          .integer(Int64(rules + added + code)),
          .integer(Int64(bindings.count { $0.target.model == model.name })),
          .text(model.kind == .view ? "view" : model.isAdopted ? "adopted" : "declared"),
        ])
      }
    }
    try context.finish(writer)
    try context.console.say(
      "\(Grouped.text(models.count, "model"))   \(opened.location.path) via \(opened.location.sourceText)"
    )
    let tables = try store.adoptableTables().filter { $0.schema != nil }
    if !tables.isEmpty {
      try context.console.say(
        "\(Grouped.text(tables.count, "more table")) could be a model (storecli adopt)")
    }
  }
}
