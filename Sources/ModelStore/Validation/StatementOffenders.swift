/// The CHECKs and added rules that the records written by one statement break.
struct StatementOffenders {
  private let connection: Connection
  private let models: ModelRegistry
  private let refusals: StoreConfiguration.Refusals
  private var questions: [String: Questions] = [:]
  /// The first violations, record by record.
  private var violations: [Violation] = []
  private var count = 0
  private var brokenRules: Set<String> = []

  fileprivate init(
    connection: Connection, models: ModelRegistry, refusals: StoreConfiguration.Refusals
  ) {
    self.connection = connection
    self.models = models
    self.refusals = refusals
  }

  /// The checks for each change of one model.
  private struct Questions {
    /// A condition on stored records.
    struct Condition {
      var violation: Violation
      /// The fields whose change requires the check; nil if every change does.
      var watched: Set<String>?
    }

    let schema: ModelSchema
    var conditions: [Condition] = []
    /// Selects, for each condition, whether the record breaks it. Its arguments are the key's
    /// values.
    var text: SQLText = "SELECT "
    /// The rules that forbid changes of their fields.
    var immutable: [ResolvedRule] = []
    /// The rules that a record may break when it is deleted or leaves its group.
    var departures: [RuleSQL] = []
  }

  /// Adds the rules that `change` breaks now.
  ///
  /// An added rule is checked exactly when its trigger would run: for new records, and for records
  /// of which a watched field changed.
  fileprivate mutating func judge(_ change: RecordChange) throws {
    guard let questions = try questions(about: change.model) else { return }
    if let new = change.new {
      for violation in try conditions(of: questions, brokenBy: change) {
        add(violation, change.key, new, of: questions.schema)
      }
    }
    guard let old = change.old else { return }
    if let new = change.new {
      let changed = Set(change.fields.map(\.name))
      for rule in questions.immutable
      where !changed.isDisjoint(with: rule.watched.map(\.name)) {
        add(rule.rule.violation, change.key, new, of: questions.schema)
      }
    }
    for sql in questions.departures where try isBroken(sql, by: change, old, of: questions.schema) {
      let rule = sql.rule.rule
      add(rule.violationOfReferenced ?? rule.violation, change.key, old, of: questions.schema)
    }
  }

  private func conditions(
    of questions: Questions, brokenBy change: RecordChange
  ) throws -> [Violation] {
    let asked = questions.conditions.indices.filter { index in
      questions.conditions[index].watched.map { change.concerns($0) } ?? true
    }
    guard !asked.isEmpty else { return [] }
    let text = SQLText(sql: questions.text.sql, arguments: change.key)
    return try connection.firstRow(text) { row in
      try asked.filter { try row.integer(at: $0) == 1 }.map { questions.conditions[$0].violation }
    } ?? []
  }

  private func isBroken(
    _ sql: RuleSQL, by change: RecordChange, _ old: [SQLValue], of schema: ModelSchema
  ) throws -> Bool {
    func cell(_ field: FieldSchema) -> SQLText {
      "\(schema.fieldIndex(named: field.name).map { old[$0] } ?? .null)"
    }
    let query: SQLText?
    if let rest = sql.sumWithout(cell) {
      guard change.new == nil || change.concerns(Set(sql.rule.watched.map(\.name))) else {
        return false
      }
      query = "SELECT 1 WHERE \(rest)"
    } else {
      query = change.new == nil ? sql.referring(to: cell, selecting: "1") : nil
    }
    return try query.map { try connection.firstRow($0) { _ in true } ?? false } ?? false
  }

  private mutating func add(
    _ violation: Violation, _ key: [SQLValue], _ image: [SQLValue], of schema: ModelSchema
  ) {
    count += 1
    brokenRules.insert(violation.rule)
    guard violations.count < max(1, refusals.maxViolationCount) else { return }
    violations.append(
      violation.about(image, of: schema, key: key, includesValues: refusals.includesValues))
  }

  /// Returns `refusal`, which is about the first offending record, extended by everything found.
  fileprivate func completing(_ refusal: StoreError) -> StoreError {
    let first = refusal.violations[0]
    guard count > 0 else { return refusal }
    if count == 1, violations[0].rule == first.rule {
      var error = refusal
      error.violations = violations
      error.key = violations[0].key
      return error
    }
    // The rule that stopped SQLite may be satisfied again by the end of the statement.
    let isListed = brokenRules.contains(first.rule)
    let all = isListed ? violations : [first] + violations
    var complete = StoreError(
      rejecting: Array(all.prefix(max(1, refusals.maxViolationCount))),
      count: isListed ? count : count + 1)
    complete.sqliteCode = refusal.sqliteCode
    return complete
  }
}

// Preparing the checks.
extension StatementOffenders {
  private mutating func questions(about model: String) throws -> Questions? {
    if let known = questions[model] { return known }
    guard let schema = models.schema.models.first(where: { $0.name == model }) else { return nil }
    let made = try makeQuestions(about: schema)
    questions[model] = made
    return made
  }

  private func makeQuestions(about schema: ModelSchema) throws -> Questions {
    var questions = Questions(schema: schema)
    func ask(_ violation: Violation, _ offence: SQLText, watching fields: [FieldSchema]?) {
      questions.text.append(questions.conditions.isEmpty ? "(" : ", (")
      questions.text.append("\(offence)) IS TRUE")
      questions.conditions.append(
        Questions.Condition(
          violation: violation, watched: fields.map { Set($0.map(\.name)) }))
    }
    let own = RecordChecks(schema: schema, models: models.schema.models, rules: [])
    for check in own.checks where check.violation.kind == .check {
      ask(check.violation, check.offence, watching: nil)
    }
    for rule in models.judgedRules where rule.isKeptByTriggers {
      let sql = RuleSQL(try ResolvedRule(rule, in: models.schema.models))
      if rule.violationOfReferenced?.model == schema.name { questions.departures.append(sql) }
      guard rule.model == schema.name else { continue }
      if let offence = sql.offence {
        // A count without groups watches no fields, because only a new record can exceed it.
        ask(rule.violation, offence, watching: sql.rule.watched)
      } else {
        questions.immutable.append(sql.rule)
      }
      if case .sumAtMost = rule.demand { questions.departures.append(sql) }
    }
    questions.text.append(" FROM \(identifier: schema.table) WHERE ")
    for (place, index) in schema.keyIndices.enumerated() {
      if place > 0 { questions.text.append(" AND ") }
      questions.text.append(
        "\(identifier: schema.table).\(identifier: schema.fields[index].column) IS ?")
    }
    return questions
  }
}

extension Rule {
  /// Returns whether triggers enforce the rule, one record at a time.
  fileprivate var isKeptByTriggers: Bool { severity == .error && kind != .unique }
}

extension RecordChange {
  /// Returns whether the record is new, or one of the fields changed.
  fileprivate func concerns(_ names: Set<String>) -> Bool {
    operation != .update || isRecreated || fields.contains { names.contains($0.name) }
  }
}

extension _TransactionAccess {
  /// Completes an error by re-running the statement without CHECKs and added rules. SQLite stops a
  /// statement at the first record that breaks one of them.
  ///
  /// The second run is rolled back. It is skipped while another statement runs, and when OR FAIL
  /// has kept the records before the first violation.
  ///
  /// - Returns: `error` with every CHECK and added rule that a record of the statement breaks,
  ///   record by record. Unique rules are not included. For a rule about several records, the list
  ///   contains each written record that exceeds the limit in the end. If the statement changes too
  ///   many rows to hold, `error` with a hint that there may be more violations.
  /// - Complexity: As the statement, plus one check of each record that it wrote. The old values of
  ///   at most ``StoreConfiguration/Refusals/heldChangeCountMax`` records are held meanwhile.
  func completed(_ error: any Error, rerunning text: SQLText) -> any Error {
    guard let refusal = error as? StoreError, refusal.violations.count == 1,
      isAboutOneRecord(refusal.violations[0]), connection.isInTransaction,
      // Otherwise the second run would apply the statement's changes twice.
      connection.changeCount == 0,
      !connection.hasRunningStatement
    else { return error }
    do {
      guard
        // The second run may reach statements that end the transaction.
        try !models.facts.mayRollBack(on: connection),
        let plan = try models.facts.captured(on: connection).plan(ofAll: models.schema.models)
      else { return error }
      let found = try connection.rollingBack { try offenders(of: text, plan) }
      return found?.completing(refusal) ?? refusal.sayingThatMoreMayBeWrong
    } catch {
      // The second run failed for another reason, so the original error stands.
      return refusal
    }
  }

  private func isAboutOneRecord(_ violation: Violation) -> Bool {
    violation.kind == .check
      || models.judgedRules.contains { $0.isKeptByTriggers && $0.name == violation.rule }
  }

  /// - Returns: nil when the statement changes too many rows. It still runs to its end, because an
  ///   interrupt would roll back the whole transaction (<https://sqlite.org/c3ref/interrupt.html>).
  private func offenders(of text: SQLText, _ plan: CapturePlan) throws -> StatementOffenders? {
    let session = CaptureSession(plan: plan)
    var room = refusals.heldChangeCountMax
    let changes: [RecordChange]? = try connection.hooks.lent {
      session.start(on: connection)
      connection.hooks.onRowChange { row in
        if room > 0 { session.record(row) }
        room -= 1
      }
      try connection.runUnchecked(text, leavingOutTriggers: RuleObjects.namePrefix)
      guard room >= 0 else { return nil }
      // A snapshot would show the state before the statement, so such a record counts as new.
      return try session.netChanges(on: connection, snapshot: { _ in nil })
    }
    guard let changes else { return nil }
    var offenders = StatementOffenders(connection: connection, models: models, refusals: refusals)
    for change in changes { try offenders.judge(change) }
    return offenders
  }
}

extension StoreError {
  fileprivate var sayingThatMoreMayBeWrong: StoreError {
    var error = self
    error.message +=
      " The statement changes too many records to check each one. There may be more violations."
    return error
  }
}
