import ModelStore
import RecordFormats

/// A place in a stream of changes where some may be missing.
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
    /// What the predicate matched is not known.
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
  /// Where it is in the journal; nil where none is followed.
  var position: JournalPosition?
  /// Behind which position the gap begins; nil when that is not known.
  var start: JournalPosition?
  /// The models concerned; nil for all.
  var models: [String]?
  /// What a person reads, without the word "gap".
  let words: String

  var text: String { "gap: \(words)" }

  /// The position before the gap's own.
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

  /// The entries behind `start` and up to `end` were removed.
  static func trimmed(from start: JournalPosition, to end: JournalPosition) -> StreamGap {
    StreamGap(
      reason: .trimmed, side: .before, position: end, start: start,
      words: "the entries from position \(start) to \(end) are trimmed")
  }
}

extension JournalTransaction {
  /// Where changes may be missing. Models whose journal was turned on or off one directly after the
  /// other are named together.
  ///
  /// - Parameters:
  ///   - start: Gaps up to there are left out.
  ///   - isIncluded: Whether the model called so is of interest.
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
          words: "\(words) before position \(last.position)")
      }
    }
  }
}

extension JournalDetail {
  /// What is said of a model whose changes are entered so, but not by the right triggers, and what
  /// mends it.
  func damage(of model: String) -> String {
    let keys = self == .keys ? " --keys" : ""
    return
      "\(model): triggers of the journal are missing, changed or older than the table, so changes "
      + "may be missing (\(Program.name) journal on \(Shell.quoted(model))\(keys))"
  }
}

extension ChangeJournal {
  /// That the journal may not have changes of `models` from now on.
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
  /// Writes a gap as a line of data, whatever the loudness, and says it where the data does not go
  /// to a terminal.
  ///
  /// - Parameter line: nil for the line that a person reads.
  func write(_ gap: StreamGap, as line: String?) throws {
    try writeLine(line ?? CellText.visible(gap.text))
    try say(beside: gap)
  }

  /// Says a gap that was written as data, where a person would not see the data.
  func say(beside gap: StreamGap) throws {
    if !dataTerminal.isInteractive { try say(gap.text) }
  }
}
