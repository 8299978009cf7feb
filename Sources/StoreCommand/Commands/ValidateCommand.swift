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
      read. Validators in Swift are not run; the report names them.
      """)

  @Argument(help: "The model; all of them when none is named.", completion: Completion.model)
  var model: String?

  @OptionGroup(title: "Common options") var options: GlobalOptions

  var isPaged: Bool { true }

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
    try write(findings, context)
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

  /// One row for each broken rule. A person does not see what the names of the rules say already.
  private func write(_ findings: [RuleFinding], _ context: CommandContext) throws {
    let isForPerson = context.isForScreen
    let violations = findings.map(\.violation)
    let showsPlace =
      !isForPerson || !violations.allSatisfy { $0.rule.hasPrefix("\($0.model).") }
    let showsSeverity = !isForPerson || violations.contains { $0.severity != .error }
    let place = [OutputColumn("model"), OutputColumn("fields", meaning: .json)]
    let text: OutputColumn.Role = isForPerson ? .field : .whole
    var writer = try context.reportWriter(
      columns: (showsPlace ? place : [])
        + [OutputColumn("rule", role: isForPerson ? .key : .whole)]
        + (showsSeverity ? [OutputColumn("severity", role: text)] : [])
        + [
          OutputColumn("message", role: text), OutputColumn("records"),
          OutputColumn("first", meaning: .json),
        ])
    for finding in findings {
      let violation = finding.violation
      try writer.write(
        (showsPlace ? [.text(violation.model), try context.list(names: violation.fields)] : [])
          + [.text(violation.rule)]
          + (showsSeverity ? [.text(violation.severity.rawValue)] : [])
          + [
            .text(violation.message), .integer(Int64(finding.count)),
            try context.list(keys: finding.keys),
          ])
    }
    try context.finish(writer)
  }
}
