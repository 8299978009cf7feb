/// What the records of one statement break: CHECKs, and rules that were added.
struct StatementOffenders {
  private let connection: Connection
  private let models: ModelRegistry
  private let refusals: StoreConfiguration.Refusals
  private var questions: [String: Questions] = [:]
  /// The first ones, record by record.
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

  /// What the file asks of each change of one model.
  private struct Questions {
    /// A condition of stored records.
    struct Condition {
      var violation: Violation
      /// The fields whose change is a reason to ask; nil when every change is.
      var watched: Set<String>?
    }

    let schema: ModelSchema
    var conditions: [Condition] = []
    /// Selects for each of them whether the record breaks it. Its arguments are the key's values.
    var text: SQLText = "SELECT "
    /// The rules that their fields never change.
    var immutable: [ResolvedRule] = []
    /// Those that a record may break by going, or by leaving its group.
    var departures: [RuleSQL] = []
  }

  /// Notes what `change` breaks now.
  ///
  /// A rule that was added is asked where its trigger would have been: of new records, and of those
  /// whose fields it watches have changed.
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

  /// `refusal`, which is about the record that SQLite came to first, with everything found.
  fileprivate func completing(_ refusal: StoreError) -> StoreError {
    let first = refusal.violations[0]
    guard count > 0 else { return refusal }
    if count == 1, violations[0].rule == first.rule {
      var error = refusal
      error.violations = violations
      error.key = violations[0].key
      return error
    }
    // What stopped SQLite may have come right by the end of the statement.
    let isListed = brokenRules.contains(first.rule)
    let all = isListed ? violations : [first] + violations
    var complete = StoreError(
      rejecting: Array(all.prefix(max(1, refusals.maxViolationCount))),
      count: isListed ? count : count + 1)
    complete.sqliteCode = refusal.sqliteCode
    return complete
  }
}

// What is asked.
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
        // A count without groups watches nothing: only a new record can be too much.
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
  /// Whether triggers refuse what breaks it, one record at a time.
  fileprivate var isKeptByTriggers: Bool { severity == .error && kind != .unique }
}

extension RecordChange {
  /// Whether the record is new, or one of the fields has another value.
  fileprivate func concerns(_ names: Set<String>) -> Bool {
    operation != .update || isRecreated || fields.contains { names.contains($0.name) }
  }
}

extension _TransactionAccess {
  /// SQLite stops a statement at the first record that breaks a CHECK or an added rule. This runs
  /// it once more with neither, looks which of the records that it wrote break them, and takes it
  /// back; not while another statement runs, nor after OR FAIL kept the records before the first.
  ///
  /// - Returns: `error` with every CHECK and every added rule that a record of the statement
  ///   breaks, record by record; unique rules are not among them. Of a rule about several records
  ///   each is told that the statement wrote and that is too much in the end. As it is, with a word
  ///   that there may be more, where the statement changes too many rows to hold.
  /// - Complexity: The statement's, and one look at each record that it wrote, whose old values are
  ///   held meanwhile: those of ``StoreConfiguration/Refusals/heldChangeCountMax`` at most.
  func completed(_ error: any Error, rerunning text: SQLText) -> any Error {
    guard let refusal = error as? StoreError, refusal.violations.count == 1,
      isAboutOneRecord(refusal.violations[0]), connection.isInTransaction,
      // What it wrote already it would write to once more.
      connection.changeCount == 0,
      !connection.hasRunningStatement
    else { return error }
    do {
      guard
        // What the first run did not reach might end the transaction.
        try !models.facts.mayRollBack(on: connection),
        let plan = try models.facts.captured(on: connection).plan(ofAll: models.schema.models)
      else { return error }
      let found = try connection.rollingBack { try offenders(of: text, plan) }
      return found?.completing(refusal) ?? refusal.sayingThatMoreMayBeWrong
    } catch {
      // It breaks something else as well, which stops it again: the first reason stands.
      return refusal
    }
  }

  private func isAboutOneRecord(_ violation: Violation) -> Bool {
    violation.kind == .check
      || models.judgedRules.contains { $0.isKeptByTriggers && $0.name == violation.rule }
  }

  /// - Returns: nil when the statement changes too many rows. It runs to its end all the same: an
  ///   interrupt would end the whole transaction (<https://sqlite.org/c3ref/interrupt.html>).
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
      // What a snapshot shows is older than the statement, so such a record counts as new.
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
      " The statement changes too many records to look at each; others may be wrong, too."
    return error
  }
}
