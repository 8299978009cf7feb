import ArgumentParser
import ModelStore
import RecordFormats

/// `models`: lists the models of the store, or describes one.
struct ModelsCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "models", abstract: "List the models, or describe one.",
    discussion: """
      Example: storecli models Track
      The number of records is ?, or null in JSON, if a model cannot be read or takes more than \
      about a second to count. Exits with 1 if a model cannot be read.
      """)

  @Argument(
    help: ArgumentHelp("The model to describe.", valueName: "model"),
    completion: Completion.model)
  var name: String?

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var isPaged: Bool { true }

  /// JSON has one model as one object.
  var takesFields: Bool {
    name == nil || options.format != .json && options.format != .ndjson
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    guard let name else { return try list(opened, context) }
    let sheet = try ModelSheet(
      schema: try opened.model(named: name), store: opened.store,
      isCounted: !takesFields || context.console.loudness >= .usual)
    try sheet.write(to: context)
    return .ok
  }

  /// The limit for counting one model's records, in steps of SQLite's virtual machine: about a
  /// second. A table takes a few steps, a view about ten for each row that it reads.
  static let countStepMax = 50_000_000

  private func list(_ opened: OpenedStore, _ context: CommandContext) throws -> ExitCode {
    var unread = UnreadModels()
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
        let rules = TableRule.all(of: model, in: models).count
        let added = added.count { $0.model == model.name }
        let code = validators.count { $0.models.contains(model.name) }
        try writer.write([
          .text(model.name), try number(of: model, reads, &unread, context),
          .integer(Int64(model.fields.count)), .text(model.key.joined(separator: ",")),
          .integer(Int64(rules + added + code)),
          .integer(Int64(bindings.count { $0.target.model == model.name })),
          .text(model.kind == .view ? "view" : model.isAdopted ? "adopted" : "declared"),
        ])
      }
    }
    try unread.noteUnreadableEntries(of: store)
    for error in try store.unreadableEntries() {
      guard let name = error.model else { continue }
      let nothing = context.unknownValue
      try writer.write([.text(name), nothing, nothing, nothing, nothing, nothing, .text("newer")])
    }
    try context.finish(writer)
    try context.console.say(
      "\(Grouped.text(models.count, "model"))   \(opened.location.path) via \(opened.location.sourceText)"
    )
    let tables = try store.adoptableTables().filter { $0.schema != nil }
    if !tables.isEmpty {
      try context.console.say(
        "\(Grouped.text(tables.count, "more table")) could be a model (\(Program.name) adopt)")
    }
    return try unread.report(to: context, otherwise: .ok)
  }

  /// How many records a model has; unknown when it cannot be read or takes too long to count.
  private func number(
    of model: ModelSchema, _ reads: borrowing ReadTransaction, _ unread: inout UnreadModels,
    _ context: CommandContext
  ) throws -> CellValue {
    let count = try unread.attempt(model.name) {
      try reads.count(StoreQuery<DynamicRecord>(model), maxStepCount: Self.countStepMax)
    }
    return count.flatMap { $0 }.map { .integer(Int64($0)) } ?? context.unknownValue
  }
}
