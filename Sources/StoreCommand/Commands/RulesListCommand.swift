import ArgumentParser
import ModelStore
import RecordFormats

/// `rules list`: every rule and where it is.
struct RulesListCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the rules.",
    discussion: """
      Example: storecli rules list Track
      The place says where a rule is: in the table's definition (CHECK, NOT NULL, UNIQUE and \
      references), added beside it, or a validator in Swift. An added rule is damaged if its \
      triggers are missing or edited.
      """)

  @Argument(help: "The model; all of them when none is named.", completion: Completion.model)
  var model: String?

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var isPaged: Bool { true }

  private struct Row {
    var rule: String
    var models: [String]
    var fields: [String] = []
    var severity = Violation.Severity.error
    var place: String
    var message: String
  }

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    let models = try model.map { [try opened.model(named: $0)] } ?? opened.store.schema.models
    let damaged = Set(try opened.store.schemaDrift(of: [.rules]).map(\.owner.name))
    let rows = try rows(of: models, in: opened.store, damaged)
    // Where the names of all rules begin with their model, a person sees the message in full.
    let showsModel =
      context.format != .table || context.options.fieldNames != nil
      || !rows.allSatisfy { $0.models.count == 1 && $0.rule.hasPrefix($0.models[0] + ".") }
    var writer = try context.reportWriter(
      columns: [OutputColumn("rule", role: .key)]
        + (showsModel ? [OutputColumn("model", meaning: .json)] : []) + [
          OutputColumn("fields", meaning: .json), OutputColumn("severity", role: .whole),
          OutputColumn("place", role: .whole), OutputColumn("message"),
        ])
    for row in rows {
      try writer.write(
        [.text(row.rule)] + (showsModel ? [try context.list(names: row.models)] : []) + [
          try context.list(names: row.fields), .text(row.severity.rawValue), .text(row.place),
          .text(row.message),
        ])
    }
    try context.finish(writer)
    try context.console.say(Grouped.text(rows.count, "rule"))
    if !damaged.isEmpty {
      try context.console.say(
        "\(Grouped.text(damaged.count, "rule")) damaged (\(Program.name) rules rebuild)")
    }
    return .ok
  }

  private func rows(
    of models: [ModelSchema], in store: Store, _ damaged: Set<String>
  ) throws -> [Row] {
    let names = Set(models.map(\.name))
    let declared = models.flatMap { model in
      TableRule.all(of: model, in: store.schema.models).map {
        Row(
          rule: $0.name, models: [model.name], fields: $0.fields, place: "table",
          message: $0.message)
      }
    }
    let added = try store.rules().filter { names.contains($0.model) }.map {
      Row(
        rule: $0.name, models: [$0.model], fields: $0.fields, severity: $0.severity,
        place: damaged.contains($0.name) ? "damaged" : "added", message: $0.message)
    }
    let inSwift = try store.declaredValidators()
      .filter { $0.models.contains(where: names.contains) }
      .map {
        Row(
          rule: $0.name, models: $0.models, place: "Swift",
          message: "only its own program knows")
      }
    return declared + added + inSwift
  }
}
