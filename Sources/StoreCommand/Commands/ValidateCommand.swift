import ArgumentParser
import ModelStore
import RecordFormats

/// `validate`: checks stored records against the rules in the file.
struct ValidateCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "validate", abstract: "Check stored records against the rules in the file.",
    discussion: """
      Example: storecli validate Track
      Exits with 2 if records break a rule, also one that only warns, with 1 if a model cannot be \
      read. Validators in Swift \
      are not run; the report names them.
      """)

  @Argument(help: "The model; all of them when none is named.", completion: ModelCompletion.kind)
  var model: String?

  @OptionGroup(title: "Common options") var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    let store = opened.store
    let models = try model.map { [try opened.model(named: $0)] } ?? store.schema.models
    var progress = Progress(console: context.console)
    var findings: [RuleFinding] = []
    var checkedCount = 0
    var unread = UnreadModels()
    if self.model == nil { try unread.noteUnreadableEntries(of: store) }
    for (place, model) in models.enumerated() {
      let title = "checking \(model.name), \(place + 1) of \(models.count)"
      let found = try unread.attempt(model.name) {
        try OpenedStore.reading {
          try store.findings(in: model) { done, all in
            progress.show(title, done: done, of: all)
          }
        }
      }
      if let found {
        findings += found
        checkedCount += 1
      }
    }
    progress.clear()
    var writer = try context.reportWriter(
      columns: [
        OutputColumn("model"), OutputColumn("fields", meaning: .json),
        OutputColumn("rule", role: .whole), OutputColumn("severity"),
        OutputColumn("message", role: .whole), OutputColumn("records"),
        OutputColumn("first", meaning: .json),
      ])
    for finding in findings {
      try writer.write([
        .text(finding.violation.model), try context.list(names: finding.violation.fields),
        .text(finding.violation.rule), .text(finding.violation.severity.rawValue),
        .text(finding.violation.message),
        .integer(Int64(finding.count)),
        try context.list(keys: finding.keys),
      ])
    }
    try context.finish(writer)
    let names = Set(models.map(\.name))
    for validator in try store.declaredValidators()
    where validator.models.contains(where: names.contains) {
      try context.console.say(
        "not run: \(validator.name), a validator in Swift over \(validator.models.joined(separator: ", "))"
      )
    }
    try context.console.say(
      "\(Grouped.text(checkedCount, "model")) checked, \(Grouped.text(findings.count, "rule")) broken"
    )
    return try unread.report(to: context, otherwise: findings.isEmpty ? .ok : .found)
  }
}
