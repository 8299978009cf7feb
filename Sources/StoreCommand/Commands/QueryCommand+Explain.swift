import ModelStore
import RecordFormats

// How SQLite runs a statement, what that costs, and which index would help.
extension QueryCommand {
  /// What `--explain` found out.
  private struct Explanation {
    let text: SQLText
    let steps: [PlanStep]
    let work: StatementWork
    let trial: Trial?
  }

  /// The trial of indexes on a copy of the records.
  private enum Trial {
    case notNeeded
    case impossible(reason: String)
    case done(advice: IndexAdvice?, tried: Int, rowCount: Int, totalCount: Int)
  }

  /// A statement of fewer steps takes less than a millisecond.
  private static let cheapStepCount = 2000

  /// - Parameter subject: What indexes could help with; nil for a statement that the user wrote.
  func explain(
    _ text: SQLText, of subject: IndexAdvice.Subject?, _ opened: OpenedStore,
    _ context: CommandContext
  ) throws {
    let explanation = try reading(opened) { reads in
      let plan = try reads.rows(
        SQLText(sql: "EXPLAIN QUERY PLAN \(text.sql)", arguments: text.arguments))
      let work = try reads.work(of: text, maxStepCount: ModelsCommand.countStepMax)
      let trial = try subject.map { try Self.trial(of: text, $0, work, reads) }
      return Explanation(text: text, steps: Self.steps(of: plan), work: work, trial: trial)
    }
    if context.format == .json || context.format == .ndjson {
      return try context.console.writeLine(try JSONText.text(Self.json(explanation)))
    }
    try context.console.writeSQL(text.sql)
    var lines: [String] = []
    if !text.arguments.isEmpty {
      lines.append("arguments: " + text.arguments.map(\.description).joined(separator: ", "))
    }
    lines += explanation.steps.map { String(repeating: "  ", count: $0.depth) + $0.words }
    lines.append("cost: " + Self.words(for: explanation.work))
    if let trial = explanation.trial { lines += Self.lines(for: trial, subject) }
    for line in lines { try context.console.writeLine("-- " + CellText.visible(line)) }
  }

  private static func steps(of plan: [ResultRow]) -> [PlanStep] {
    var depths: [SQLValue: Int] = [:]
    return plan.map { row in
      let depth = row["parent"].flatMap { depths[$0] }.map { $0 + 1 } ?? 0
      if let id = row["id"] { depths[id] = depth }
      let detail = CellText.exchange(CellValue(row["detail"] ?? .null)) ?? ""
      return PlanStep(detail: detail, depth: depth)
    }
  }

  private static func trial(
    of text: SQLText, _ subject: IndexAdvice.Subject, _ work: StatementWork,
    _ reads: borrowing ReadTransaction
  ) throws -> Trial {
    guard work.stepCount >= cheapStepCount else { return .notNeeded }
    do {
      let scratch = try ScratchTable(of: subject.schema, using: subject.fieldIndices, reads)
      defer { scratch.close() }
      let names = try reads.rows("SELECT name FROM sqlite_schema").compactMap { row in
        if case .text(let name) = row.values[0] { name } else { nil }
      }
      let (advice, tried) = try IndexAdvice.best(
        for: text, subject, on: scratch, names: Set(names))
      return .done(
        advice: advice, tried: tried, rowCount: scratch.rowCount, totalCount: scratch.totalCount)
    } catch let error as ScratchTable.Impossible {
      return .impossible(reason: error.reason)
    }
  }

  private static func words(for work: StatementWork) -> String {
    var parts = [
      Grouped.text(work.rowCount, "row"), Grouped.text(work.stepCount, "step") + " of SQLite",
      Grouped.text(work.fullScanStepCount, "row step") + " in full scans",
    ]
    if work.sortCount > 0 { parts.append(Grouped.text(work.sortCount, "sort")) }
    if work.automaticIndexRowCount > 0 {
      parts.append(Grouped.text(work.automaticIndexRowCount, "row") + " indexed for it alone")
    }
    if !work.isComplete { parts.append("stopped before its end") }
    return parts.joined(separator: ", ")
  }

  private static func lines(for trial: Trial, _ subject: IndexAdvice.Subject?) -> [String] {
    switch trial {
    case .notNeeded: return ["no index needed: the statement is cheap"]
    case .impossible(let reason): return ["no index was tried: \(reason)"]
    case .done(nil, let tried, let rowCount, let totalCount):
      guard tried > 0 else { return ["no index would help: the query neither selects nor sorts"] }
      return [
        "no index helps: \(Grouped.text(tried, "index", "indexes")) tried on "
          + place(rowCount, of: totalCount)
      ]
    case .done(let advice?, _, let rowCount, let totalCount):
      let (before, after) = (advice.before, advice.after)
      let scanned = (Grouped.text(before.fullScanStepCount), Grouped.text(after.fullScanStepCount))
      let remedy =
        subject?.schema.isAdopted == true
        ? "create it with sqlite3, or in a migration of the program that owns the table"
        : "declare it in the program's model"
      return [
        "advice: \(advice.sql);",
        "  measured on \(place(rowCount, of: totalCount)): \(Grouped.text(before.stepCount)) -> "
          + "\(Grouped.text(after.stepCount)) steps, row steps in full scans \(scanned.0) -> "
          + "\(scanned.1), sorts \(before.sortCount) -> \(after.sortCount)",
        "  nothing was changed; \(remedy)",
      ]
    }
  }

  private static func place(_ rowCount: Int, of totalCount: Int) -> String {
    rowCount == totalCount
      ? "a copy of all \(Grouped.text(rowCount, "row"))"
      : "a sample of \(Grouped.text(rowCount)) of \(Grouped.text(totalCount, "row"))"
  }

  private static func json(_ explanation: Explanation) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init("sql", .string(explanation.text.sql)),
      .init("arguments", .array(explanation.text.arguments.map { JSONValue($0) })),
      .init("plan", .array(explanation.steps.map { .string($0.detail) })),
      .init("words", .array(explanation.steps.map { .string($0.words) })),
      .init("cost", json(explanation.work)),
    ]
    switch explanation.trial {
    case .done(let advice, let tried, let rowCount, let totalCount):
      members.append(
        .init(
          "trial",
          .object([
            .init("tried", .integer(Int64(tried))), .init("rows", .integer(Int64(rowCount))),
            .init("ofRows", .integer(Int64(totalCount))),
          ])))
      let found = advice.map { advice in
        JSONValue.object([
          .init("sql", .string(advice.sql)), .init("before", json(advice.before)),
          .init("after", json(advice.after)),
        ])
      }
      members.append(.init("advice", found ?? .null))
    case .impossible, .notNeeded, nil: members.append(.init("advice", .null))
    }
    return .object(members)
  }

  private static func json(_ work: StatementWork) -> JSONValue {
    .object([
      .init("rows", .integer(Int64(work.rowCount))),
      .init("steps", .integer(Int64(work.stepCount))),
      .init("fullScanSteps", .integer(Int64(work.fullScanStepCount))),
      .init("sorts", .integer(Int64(work.sortCount))),
      .init("automaticIndexRows", .integer(Int64(work.automaticIndexRowCount))),
      .init("isComplete", .boolean(work.isComplete)),
    ])
  }
}
