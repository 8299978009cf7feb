import ArgumentParser
import ModelStore

/// `doctor`: is the file sound, and does everything in it hold?
struct DoctorCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Check the file, its references, rules and catalog.",
    discussion: """
      Example: storecli doctor -d music.store
      Reads the whole file. Exits with 2 when something is found.
      """)

  @OptionGroup var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    let opened = try context.openForReading()
    let store = opened.store
    var report = Report()
    report.add("database", .ok, "\(opened.location.path) via \(opened.location.sourceText)")
    let damage = try store.check()
    for sentence in damage { report.add("integrity", .problem, sentence) }
    if damage.isEmpty { report.add("integrity", .ok, "pages, indexes and references are sound") }
    let models = store.schema.models
    report.add(
      "catalog", models.isEmpty ? .note : .ok,
      models.isEmpty
        ? "no models yet (storecli adopt)"
        : "\(Grouped.text(models.count, "model")), \(Grouped.text(try store.bindings().count, "binding"))"
    )
    if damage.isEmpty { try addFindings(of: store, models, to: &report) }
    for validator in try store.declaredValidators() {
      report.add("rules", .note, "\(validator.name) is in Swift and was not run")
    }
    for table in try store.adoptableTables() {
      report.add("tables", .note, table.reason ?? "\(table.name) is no model yet (storecli adopt)")
    }
    try report.write(to: context)
    return report.hasProblem ? .found : .ok
  }

  private func addFindings(
    of store: Store, _ models: [ModelSchema], to report: inout Report
  ) throws {
    let findings = try models.flatMap { try store.findings(in: $0) }
    for finding in findings {
      let keys = finding.keys.map(KeyText.text).joined(separator: " ")
      let place = ([finding.violation.model] + finding.violation.fields).joined(separator: ".")
      report.add(
        "rules", .problem,
        "\(place) \(finding.violation.message): \(Grouped.text(finding.count, "record")) (\(keys))")
    }
    if findings.isEmpty, !models.isEmpty { report.add("rules", .ok, "all records meet them") }
  }

  private struct Report {
    enum State: String {
      case ok
      case note
      case problem
    }

    private var rows: [[SQLValue]] = []
    private(set) var hasProblem = false

    mutating func add(_ check: String, _ state: State, _ text: String) {
      rows.append([.text(check), .text(state.rawValue), .text(text)])
      if state == .problem { hasProblem = true }
    }

    func write(to context: CommandContext) throws {
      var writer = try context.rowWriter(
        columns: [OutputColumn("check"), OutputColumn("state"), OutputColumn("finding")])
      for row in rows { try writer.write(row) }
      try context.finish(writer)
    }
  }
}
