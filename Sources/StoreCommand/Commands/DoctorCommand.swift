import ArgumentParser
import ModelStore
import RecordFormats

/// `doctor`: checks the file and everything in it.
struct DoctorCommand: LeafCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check the file, its references, rules, bindings, journal and catalog.",
    discussion: """
      Example: storecli doctor -d music.store
      Reads the whole file. Exits with 2 if it finds a problem, with 1 if it could not examine \
      something: that state is unread. Notes, and records that break a rule that only warns, do not \
      change the exit status. Also prints the version of SQLite and warns of one whose \
      checkpoints can damage a file.
      With --ready it only reads what a readiness probe of a service asks: whether it may write, \
      drift, the write-ahead log, free space, consumers, and the version of SQLite.
      """)

  @Flag(help: "Check only whether a service can use the file now; does not read the records.")
  var ready = false

  @OptionGroup(title: "Common options") var options: GlobalOptions

  func run(_ context: CommandContext) throws -> ExitCode {
    var report = Report()
    do {
      if ready {
        try Self.addHealth(of: context.openForWriting().store, to: &report)
      } else {
        try examine(try context.openToAskLedger(), &report)
      }
    } catch let error as StoreError
      where Self.findings.contains(error.code) || ready && Self.obstacles.contains(error.code)
    {
      report.add("database", .problem, CommandError.messageWithoutStatement(of: error))
    }
    try report.write(to: context)
    return report.hasUnread ? .failed : report.hasProblem ? .found : .ok
  }

  /// The problem of a file that exists but cannot be opened as a store.
  private static let findings: Set<StoreError.Code> = [
    .corrupt, .ioFailure, .database, .schemaMismatch, .outdatedModel, .unsupportedSchema,
    .invalidQuery,
    .invalidValue,
  ]

  /// As ``findings``, of a file that a service cannot write.
  private static let obstacles: Set<StoreError.Code> = [
    .readOnly, .permissionDenied, .fileReplaced,
  ]

  private func examine(_ opened: OpenedStore, _ report: inout Report) throws {
    let store = opened.store
    report.add("database", .ok, "\(opened.location.path) via \(opened.location.sourceText)")
    Self.addLibrary(to: &report)
    try report.examine("integrity") { try Self.addIntegrity(of: store, to: &$0) }
    for error in try store.unreadableEntries() {
      report.add("catalog", error.code == .newerFormat ? .unread : .problem, error.message)
    }
    try report.examine("catalog") { try Self.addCatalog(of: store, to: &$0) }
    let outdated = try Self.addOutdatedModels(of: store, to: &report)
    try report.examine("bindings") { try Self.addBindings(of: store, to: &$0) }
    try report.examine("rules") { report in
      for drift in try store.schemaDrift(of: [.rules]) { Self.add(drift, to: &report) }
    }
    try report.examine("journal") { try Self.addJournal(of: store, besides: outdated, to: &$0) }
    try addRuleFindings(of: store, store.schema.models, besides: outdated, to: &report)
    try report.examine("rules") { report in
      for validator in try store.declaredValidators() {
        report.add("rules", .note, "\(validator.name) is a validator in Swift and was not run")
      }
    }
    try report.examine("member") { report in
      if let member = try store.memberHealth() { Self.add(member, to: &report) }
    }
    try report.examine("tables") { report in
      for table in try store.adoptableTables() {
        report.add(
          "tables", .note,
          table.reason ?? "\(table.name) is not a model yet (\(Program.name) adopt)")
      }
    }
  }

  private static func addIntegrity(of store: Store, to report: inout Report) throws {
    var unread: [String] = []
    let damage = try store.damage { unread.append($0.message) }
    for sentence in damage { report.add("integrity", .problem, sentence) }
    for sentence in unread { report.add("integrity", .unread, sentence) }
    if damage.isEmpty {
      let what = unread.isEmpty ? "pages" : "the other pages"
      report.add("integrity", .ok, "\(what), indexes and references are sound")
    }
  }

  private static func addCatalog(of store: Store, to report: inout Report) throws {
    let models = store.schema.models
    let bindings = try store.bindings()
    report.add(
      "catalog", models.isEmpty ? .note : .ok,
      models.isEmpty
        ? "no models yet (\(Program.name) adopt)"
        : "\(Grouped.text(models.count, "model")), \(Grouped.text(bindings.count, "binding"))")
  }

  private static func addBindings(of store: Store, to report: inout Report) throws {
    let findings = try store.bindingFindings()
    for finding in findings { add(finding, to: &report) }
    let bindings = try store.bindings()
    let called = Set(bindings.filter { $0.functions != nil }.map(\.name))
    for finding in findings where !finding.isCompared && !called.contains(finding.binding) {
      report.add(
        "bindings", .unread,
        "\(finding.binding): its values could not be compared: "
          + (finding.obstacle?.reason ?? "something that it needs is missing"))
    }
    if findings.isEmpty, !bindings.isEmpty {
      report.add("bindings", .ok, "all triggers and values are in place")
    }
    for binding in bindings {
      guard let functions = binding.functions else { continue }
      report.add(
        "bindings", .note,
        "\(binding.name) calls \(functions.joined(separator: ", ")) in Swift; its values were not "
          + "checked, and only programs with it can write them")
    }
  }

  private static func addJournal(
    of store: Store, besides outdated: Set<String>, to report: inout Report
  ) throws {
    let journal = try store.changeJournal.status()
    // The command that repairs outdated models also repairs their journals.
    for drift in journal.drift where !outdated.contains(drift.owner.name) {
      report.add("journal", .problem, journal.damage(of: drift.owner.name))
    }
    try store.changeJournal.check()
    if journal.drift.isEmpty, !journal.details.isEmpty {
      report.add("journal", .ok, "all triggers are in place")
    }
  }

  /// - Returns: The names of the adopted models whose tables have changed.
  private static func addOutdatedModels(
    of store: Store, to report: inout Report
  ) throws -> Set<String> {
    var outdated: Set<String> = []
    try report.examine("models") { report in
      for model in try store.adoptedDrift() {
        let name = model.owner.name
        outdated.insert(name)
        report.add(
          "models", .problem,
          "\(name): \(Self.text(of: model)) "
            + "(\(Program.name) adopt --refresh \(Shell.quoted(name)))")
      }
      for model in try store.schemaDrift(of: [.models]) where !outdated.contains(model.owner.name) {
        report.add("models", .problem, "\(model.owner.name): \(Self.text(of: model))")
      }
    }
    return outdated
  }

  private static func text(of drift: SchemaDrift) -> String {
    drift.sentences.joined(separator: " ")
  }

  /// What a readiness probe asks.
  private static func addHealth(of store: Store, to report: inout Report) throws {
    let health = try store.health()
    report.add(
      "writable", health.isWritable ? .ok : .problem,
      health.obstacle ?? "this program may write, as soon as no other one does")
    for name in health.drift {
      report.add("drift", .problem, "\(name) differs from its declaration (\(Program.name) doctor)")
    }
    report.add("log", .ok, "\(health.logByteCount) bytes")
    if let count = health.freeByteCount { report.add("disk", .ok, "\(count) bytes free") }
    for (name, lag) in health.consumerLags.sorted(by: { $0.key < $1.key }) {
      report.add("consumers", .ok, "\(name) has \(lag) positions to come")
    }
    let letterCount = try store.deadLetters().count
    if letterCount > 0 {
      report.add(
        "consumers", .warning,
        "\(Grouped.text(letterCount, "dead letter")) (\(Program.name) consumers letters)")
    }
    if let member = health.member { add(member, to: &report) }
    addLibrary(to: &report)
  }

  /// The file's part in a shared store.
  private static func add(_ member: MemberHealth, to report: inout Report) {
    report.add(
      "member", .ok, "of the shared store \(member.store), with commit \(member.commitNumber)")
    if let obstacle = member.obstacle {
      report.add("member", member.lag == nil ? .note : .problem, obstacle)
    }
    if let lag = member.lag {
      report.add(
        "member", .ok, lag == 0 ? "has every commit" : "\(Grouped.text(Int(lag), "commit")) to come"
      )
    }
    if let durability = member.durability {
      report.add(
        "member", durability == "none" ? .warning : .ok,
        durability == "none"
          ? "the ledger may lose commits in a crash" : "commits are kept: \(durability)")
    }
    for (name, lag) in member.memberLags.sorted(by: { $0.key < $1.key }) {
      report.add("member", .ok, "member \(name) had \(Grouped.text(Int(lag), "commit")) to come")
    }
  }

  /// The version of SQLite, with a warning for one that has the WAL-reset bug:
  /// <https://sqlite.org/wal.html#walresetbug>.
  private static func addLibrary(to report: inout Report) {
    let version = Store.sqliteVersion
    guard LibraryVersion(version).hasWALResetBug else {
      return report.add("sqlite", .ok, "version \(version)")
    }
    report.add(
      "sqlite", .note,
      "version \(version) has the WAL-reset bug, which 3.51.3 fixes. Stores are guarded against it; "
        + "two other programs that write at the same time are not, such as two sqlite3 shells "
        + "(run PRAGMA wal_autocheckpoint = 0 in each)")
  }

  private static func add(_ drift: SchemaDrift, to report: inout Report) {
    let rule = drift.owner.name
    guard !drift.differences.isEmpty else {
      return report.add(
        "rules", .problem,
        "\(rule): its model or a field of it is gone (\(Program.name) rules drop "
          + "\(Shell.quoted(rule)))")
    }
    report.add(
      "rules", .problem,
      "\(rule): missing or changed in the file: "
        + "\(drift.objects.joined(separator: ", ")) (\(Program.name) rules rebuild)")
  }

  private static func add(_ finding: BindingFinding, to report: inout Report) {
    if let objects = finding.drift?.objects {
      report.add(
        "bindings", .problem,
        "\(finding.binding): missing or changed \(objects.count == 1 ? "trigger" : "triggers") "
          + "\(objects.joined(separator: ", ")) (\(finding.remedy))")
    }
    if finding.recordCount > 0 {
      let verb = finding.recordCount == 1 ? "differs" : "differ"
      report.add(
        "bindings", .problem,
        "\(finding.binding): \(Grouped.text(finding.recordCount, "record")) \(verb) from the source (\(Program.name) bindings rebuild)"
      )
    }
  }

  private func addRuleFindings(
    of store: Store, _ models: [ModelSchema], besides outdated: Set<String>,
    to report: inout Report
  ) throws {
    var soundCount = 0
    for model in models {
      try report.examine("rules", of: model.name) { report in
        let findings: [RuleFinding]
        do {
          findings = try store.findings(in: model)
        } catch let error as StoreError
          where error.code == .outdatedModel && error.model.map(outdated.contains) ?? true
        {
          // Reported with the model.
          return
        }
        if findings.isEmpty { soundCount += 1 }
        for finding in findings {
          let keys = finding.keys.map(KeyText.text).joined(separator: " ")
          let place = ([finding.violation.model] + finding.violation.fields).joined(separator: ".")
          report.add(
            "rules", finding.violation.severity == .warning ? .warning : .problem,
            "\(place) \(finding.violation.message): \(Grouped.text(finding.count, "record")) (\(keys))"
          )
        }
      }
    }
    if !models.isEmpty, soundCount == models.count {
      report.add("rules", .ok, "all records meet them")
    }
  }

  private struct Report {
    enum State: String {
      case ok
      case note
      /// Records break a rule that only warns; the exit status stays 0.
      case warning
      case problem
      /// Could not be examined.
      case unread
    }

    private var rows: [[CellValue]] = []
    private(set) var hasProblem = false
    private(set) var hasUnread = false

    mutating func add(_ check: String, _ state: State, _ text: String) {
      rows.append([.text(check), .text(state.rawValue), .text(text)])
      if state == .problem { hasProblem = true }
      if state == .unread { hasUnread = true }
    }

    /// Runs one check. If damage stops it, the damage is the finding.
    mutating func examine(
      _ check: String, of model: String? = nil, _ body: (inout Report) throws -> Void
    ) throws {
      do {
        try body(&self)
      } catch let error as StoreError {
        guard error.code != .busy, error.code != .cancelled else { throw error }
        let isUnread =
          [.unsupportedSchema, .newerFormat].contains(error.code) || error.isOversized
        let message =
          error.isOversized
          ? CommandError(error).message : CommandError.messageWithoutStatement(of: error)
        add(check, isUnread ? .unread : .problem, (model.map { "\($0): " } ?? "") + message)
      }
    }

    func write(to context: CommandContext) throws {
      var writer = try context.reportWriter(
        columns: [OutputColumn("check"), OutputColumn("state"), OutputColumn("finding")])
      for row in rows { try writer.write(row) }
      try context.finish(writer)
    }
  }
}
