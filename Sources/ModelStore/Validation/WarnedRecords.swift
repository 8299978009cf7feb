/// The rules of severity ``Violation/Severity/warning`` that the records written by one transaction
/// break. These rules refuse nothing.
package struct WarnedRecords: Hashable, Sendable {
  /// The first violations, record by record.
  package private(set) var violations: [Violation] = []
  /// How many there are in all.
  package private(set) var count = 0
  /// What was not compared with these rules, as sentences.
  package private(set) var gaps: [String] = []

  /// The most records of a transaction that are compared. A rule over several records may search a
  /// whole table for each, and the write lock is held meanwhile.
  static let comparedCountMax = 1_000

  package init() {}

  /// Adds those of a later transaction.
  ///
  /// - Parameter maxListedCount: How many violations the value lists; it counts all.
  package mutating func add(_ later: WarnedRecords, maxListedCount: Int) {
    violations += later.violations.prefix(max(0, maxListedCount - violations.count))
    count += later.count
    for gap in later.gaps where !gaps.contains(gap) { gaps.append(gap) }
  }

  /// The conditions of the warnings of one model.
  private struct Questions {
    let schema: ModelSchema
    var rules: [(violation: Violation, watched: Set<String>)] = []
    /// Selects, for each rule, whether the record breaks it. Its arguments are the key's values.
    var text: SQLText = "SELECT "

    init?(about schema: ModelSchema, _ rules: [Rule], in models: [ModelSchema]) throws {
      self.schema = schema
      for rule in rules where rule.model == schema.name {
        let resolved = try ResolvedRule(rule, in: models)
        guard let offence = Self.offence(of: resolved) else { continue }
        text.append(self.rules.isEmpty ? "(" : ", (")
        text.append("\(offence)) IS TRUE")
        self.rules.append((rule.violation, Set(resolved.watched.map(\.name))))
      }
      guard !self.rules.isEmpty else { return nil }
      text.append(" FROM \(identifier: schema.table) WHERE ")
      for (place, index) in schema.keyIndices.enumerated() {
        if place > 0 { text.append(" AND ") }
        text.append("\(identifier: schema.table).\(identifier: schema.fields[index].column) IS ?")
      }
    }

    /// A condition about one stored record that reads only what it has to.
    private static func offence(of rule: ResolvedRule) -> SQLText? {
      let sql = RuleSQL(rule)
      guard case .unique(let condition) = rule.rule.demand else { return sql.offence }
      let taken = sql.offence(proposing: { field in
        "\(identifier: rule.model.table).\(identifier: field.column)"
      })
      return taken.map { "(\($0)) AND (\(SQLText(sql: condition ?? "1")))" }
    }
  }

  fileprivate init(
    _ changes: [RecordChange], by rules: [Rule], in models: [ModelSchema], countMax: Int,
    on connection: Connection
  ) throws {
    var known: [String: Questions?] = [:]
    var comparedCount = 0
    for change in changes where change.operation != .delete {
      if known[change.model] == nil {
        let schema = models.first { $0.name == change.model }
        known[change.model] = .some(
          try schema.flatMap { try Questions(about: $0, rules, in: models) })
      }
      guard let questions = known[change.model] ?? nil, let image = change.new else { continue }
      let changed = Set(change.fields.map(\.name))
      let asked = questions.rules.indices.filter { index in
        change.operation == .insert || change.isRecreated
          || !questions.rules[index].watched.isDisjoint(with: changed)
      }
      guard !asked.isEmpty else { continue }
      guard comparedCount < Self.comparedCountMax else {
        gaps.append(
          "Only the first \(Self.comparedCountMax) written records were compared with rules that only warn."
        )
        return
      }
      comparedCount += 1
      let text = SQLText(sql: questions.text.sql, arguments: change.key)
      let broken: [Int]?
      do {
        broken = try connection.firstRow(text) { row in
          try asked.filter { try row.integer(at: $0) == 1 }
        }
      } catch let error as SQLiteError where error.code.primary == .error {
        // A warning refuses nothing, also if this program lacks a function of its condition.
        known[change.model] = .some(nil)
        gaps.append(
          "The rules of \(change.model) that only warn could not be evaluated: \(error.message).")
        continue
      }
      for index in broken ?? [] {
        count += 1
        guard violations.count < countMax else { continue }
        violations.append(
          questions.rules[index].violation.about(
            image, of: questions.schema, key: change.key, includesValues: false))
      }
    }
  }
}

extension WriteTransaction {
  /// Calls `body` at the end of the transaction, before COMMIT or the end of a preview, with the
  /// rules that only warn and that the written records break now.
  ///
  /// Only captured changes are reviewed: those of ``Store/preview(_:)`` and
  /// ``Store/writeReturningChanges(_:)``.
  ///
  /// - Parameter maxListedCount: How many violations are listed; nil for as many as an error lists.
  package borrowing func reviewWarnings(
    listing maxListedCount: Int? = nil, _ body: @escaping (WarnedRecords) -> Void
  ) {
    let models = access.models
    let rules = models.warningRules
    guard !rules.isEmpty else { return }
    let connection = access.connection
    let countMax = max(1, maxListedCount ?? access.refusals.maxViolationCount)
    let earlier = access.notes.review
    access.notes.review = { changes in
      try earlier?(changes)
      body(
        try WarnedRecords(
          changes, by: rules, in: models.schema.models, countMax: countMax, on: connection))
    }
  }
}

extension ModelRegistry {
  /// The rules that refuse nothing.
  var warningRules: [Rule] { judgedRules.filter { $0.severity == .warning } }
}
