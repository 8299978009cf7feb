import ModelStore
import RecordFormats

/// A place in a stream of changes where changes may be missing.
struct StreamGap: Hashable {
  /// Why changes may be missing.
  enum Reason: String {
    /// The journal of the models was turned on, or its triggers were repaired.
    case started
    /// The journal of the models was turned off.
    case stopped
    /// The entries are trimmed.
    case trimmed
    /// Another program emptied the journal.
    case emptied
    /// Triggers of the journal are missing or changed.
    case damaged
    /// It is unknown which records met the predicate.
    case predicate
    /// No journal records the fields that other programs change.
    case unrecorded
  }

  /// On which side of the position changes may be missing.
  enum Side: String {
    case before
    case after
  }

  let reason: Reason
  let side: Side
  /// Its position in the journal; nil without a journal.
  var position: JournalPosition?
  /// The position after which the gap begins; nil if unknown.
  var start: JournalPosition?
  /// The models concerned; nil for all.
  var models: [String]?
  /// The text for a program, without the word "gap".
  let words: String
  /// Whether the journal began here, so that nothing before it was ever recorded.
  var isBeginning = false

  /// The text for a person.
  var text: String {
    guard isBeginning, let models else { return "gap: \(words)" }
    return
      "the journal of \(models.joined(separator: ", ")) begins here; earlier changes were not recorded"
  }

  /// The position before the gap's position.
  var placeBefore: JournalPosition {
    position.map { JournalPosition(rawValue: max(0, $0.rawValue - 1)) } ?? .start
  }

  /// The line for programs.
  var json: JSONValue {
    .object([
      .init("position", position.map { .integer($0.rawValue) } ?? .null),
      .init("op", .string("gap")),
      .init("side", .string(side.rawValue)), .init("reason", .string(reason.rawValue)),
      .init("after", start.map { .integer($0.rawValue) } ?? .null),
      .init("models", models.map { .array($0.map { .string($0) }) } ?? .null),
      .init("message", .string(words)),
    ])
  }

  /// The gap for removed entries after `start` and up to `end`.
  static func trimmed(from start: JournalPosition, to end: JournalPosition) -> StreamGap {
    StreamGap(
      reason: .trimmed, side: .before, position: end, start: start,
      words: "the entries from position \(start) to \(end) are trimmed")
  }
}

extension JournalTransaction {
  /// The gaps of transactions. Models whose journal was turned on or off directly one after the
  /// other share a gap.
  ///
  /// - Parameters:
  ///   - start: Gaps up to this position are left out.
  ///   - isIncluded: Whether the model with this name is included.
  func streamGaps(
    after start: JournalPosition = .start, of isIncluded: (String) -> Bool = { _ in true }
  ) -> [StreamGap] {
    var runs: [(models: [String], first: JournalInterruption, last: JournalInterruption)] = []
    for next in interruptions where isIncluded(next.model) && next.position > start {
      if let run = runs.last, run.last.kind == next.kind,
        run.last.position.rawValue + 1 == next.position.rawValue
      {
        let models = run.models.contains(next.model) ? run.models : run.models + [next.model]
        runs[runs.count - 1] = (models, run.first, next)
      } else {
        runs.append(([next.model], next, next))
      }
    }
    return runs.map { models, first, last in
      let words = "changes of \(models.joined(separator: ", ")) may be missing"
      return switch first.kind {
      case .stopped:
        StreamGap(
          reason: .stopped, side: .after, position: first.position, models: models,
          words: "\(words) from position \(first.position) on")
      case .started:
        StreamGap(
          reason: .started, side: .before, position: last.position, models: models,
          words: "\(words) before position \(last.position)",
          isBeginning: areFirst(models, at: first.position))
      }
    }
  }
}

extension JournalTransaction {
  /// Whether the journal has nothing of these models before `position`. Positions are never used
  /// again, so nothing came before the first, and a model's first entry says that it is recorded
  /// from there.
  private func areFirst(_ models: [String], at position: JournalPosition) -> Bool {
    positions.lowerBound.rawValue == 1
      && !interruptions.contains { $0.position < position && models.contains($0.model) }
  }
}

extension JournalDetail {
  /// The text for a model whose journal triggers are damaged, with the command that repairs them.
  func damage(of model: String) -> String {
    let keys = self == .keys ? " --keys" : ""
    return
      "\(model): triggers of the journal are missing, changed or older than the table, so changes "
      + "may be missing (\(Program.name) journal on \(Shell.quoted(model))\(keys))"
  }
}

extension ChangeJournal {
  /// The gap from now on, for models whose changes the journal may not have.
  func damageGaps(of models: some Collection<String>) throws -> [StreamGap] {
    guard !models.isEmpty else { return [] }
    let details = try details()
    let position = try position()
    return models.sorted().map { model in
      StreamGap(
        reason: .damaged, side: .after, position: position, models: [model],
        words: (details[model] ?? .full).damage(of: model))
    }
  }
}

extension Console {
  /// Writes a gap as a line of data at any loudness, and also as a message if the data does not go
  /// to a terminal.
  ///
  /// - Parameter line: nil for the line for a person.
  func write(_ gap: StreamGap, as line: String?) throws {
    try writeLine(line ?? CellText.visible(gap.text))
    try say(beside: gap)
  }

  /// Prints a gap as a message if a person does not see the data.
  func say(beside gap: StreamGap) throws {
    if !dataTerminal.isInteractive { try say(gap.text) }
  }
}
