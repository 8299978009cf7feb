import ModelStore
import RecordFormats

/// Where the changes of `watch` go, up to `--count`: lines on standard output, or the standard
/// input of a command.
struct WatchOutput {
  /// A command and how to run it.
  struct Handler {
    let command: EventCommand
    /// Whether one run receives all changes of a batch.
    let takesAll: Bool
    /// Whether a failed run must be repeated, so that no later change may follow.
    let isOwed: Bool
  }

  private let context: CommandContext
  private let countMax: Int
  private let splitsParts: Bool
  private let handler: Handler?
  private let gapPolicy: GapPolicy
  private(set) var count = 0
  /// Whether a gap ended the stream.
  private(set) var hasFailedOnGap = false
  /// Whether some of the last changes were not written.
  private(set) var isCut = false
  /// Runs of the command that failed.
  private(set) var failureCount = 0

  /// Whether a gap ends the stream.
  enum GapPolicy { case goOn, end }

  /// - Parameters:
  ///   - splitsParts: Whether the count may end in the middle of a part.
  ///   - gapPolicy: Whether the stream ends at the first gap.
  /// - Throws: ``CommandError`` for a format with an end or a heading.
  init(
    _ context: CommandContext, countMax: Int?, splitsParts: Bool, handler: Handler?,
    gapPolicy: GapPolicy = .goOn
  ) throws {
    switch context.options.format {
    case nil, .ndjson: break
    case .plain, .table:
      guard handler == nil else {
        throw CommandError.usage("--exec passes ndjson to the command; leave out -o.")
      }
    case .json, .csv, .tsv, .yaml, .md, .sql:
      throw CommandError.usage("The output of watch has no end: use -o ndjson, plain or table.")
    }
    self.context = context
    self.countMax = countMax ?? .max
    self.splitsParts = splitsParts
    self.handler = handler
    self.gapPolicy = gapPolicy
  }

  /// Whether the output takes no more changes.
  var isFull: Bool { count >= countMax || hasFailedOnGap }

  /// Whether a command takes the changes.
  var hasHandler: Bool { handler != nil }

  /// Whether each transaction must be finished before the next.
  var isStepwise: Bool { handler != nil || countMax < .max }

  private var isForProgram: Bool {
    guard let format = context.options.format else {
      return !context.console.dataTerminal.isInteractive
    }
    return format == .ndjson
  }

  /// Writes gaps, which do not count as changes. A command runs for each.
  ///
  /// - Throws: ``CommandError`` if the command fails and must be repeated; ``OutputError``.
  mutating func write(_ gaps: [StreamGap]) throws {
    for gap in gaps where !isFull {
      if let handler {
        guard !Interruption.isRequested, try run(handler, for: gap) else {
          isCut = true
          return
        }
      } else {
        try context.console.write(gap, as: isForProgram ? try JSONText.text(gap.json) : nil)
      }
      guard gapPolicy == .end else { continue }
      hasFailedOnGap = true
      // The gap is not acknowledged: the next run ends there too.
      isCut = true
    }
  }

  private mutating func run(_ handler: Handler, for gap: StreamGap) throws -> Bool {
    var input: [UInt8] = []
    try JSONText.append(gap.json, to: &input)
    input.append(UInt8(ascii: "\n"))
    try context.console.say(gap.text)
    let ending = try handler.command.run(input, environment: ["STORECLI_GAP": gap.words])
    return try check(
      ending, handler, place: gap.position.map { " for the gap at position \($0)" } ?? "")
  }

  /// Writes changes, up to the count. Lines wait until the buffer is full, or for ``flush()``.
  ///
  /// - Throws: ``CommandError`` if the command fails and must be repeated; ``OutputError``.
  mutating func write(_ changes: [WatchedChange]) throws {
    // A part that is acknowledged as a whole is written as a whole.
    let wanted = splitsParts ? changes.prefix(countMax - count) : changes[...]
    isCut = wanted.count < changes.count
    guard let handler else { return try writeLines(wanted) }
    var rest = wanted
    while !rest.isEmpty {
      let next = handler.takesAll ? rest : rest.prefix(1)
      guard !Interruption.isRequested, try run(handler, next) else {
        isCut = true
        return
      }
      rest = rest.dropFirst(next.count)
    }
  }

  /// Flushes the lines to the reader. Call it before waiting or acknowledging; after each
  /// transaction, it would take more time than everything else.
  func flush() throws {
    try context.console.finish()
  }

  private mutating func writeLines(_ changes: ArraySlice<WatchedChange>) throws {
    let console = context.console
    let terminal = console.dataTerminal
    let isForProgram = isForProgram
    for change in changes {
      if isForProgram {
        try console.writeLine(change.json)
      } else {
        try console.writeLine(change.text(palette: terminal.palette, width: terminal.width))
      }
      count += 1
    }
  }

  /// - Returns: Whether the changes were processed: not if Ctrl-C also ended the command.
  private mutating func run(
    _ handler: Handler, _ changes: ArraySlice<WatchedChange>
  ) throws -> Bool {
    var input: [UInt8] = []
    for change in changes {
      try JSONText.append(change.json, to: &input)
      input.append(UInt8(ascii: "\n"))
    }
    let ending = try handler.command.run(input)
    let place = changes.first?.logged.map { " for position \($0.position)" } ?? ""
    guard try check(ending, handler, place: place) else { return false }
    count += changes.count
    return true
  }

  /// - Returns: Whether the command finished: not if Ctrl-C also ended it.
  /// - Throws: ``CommandError`` if the command failed and must be repeated.
  private mutating func check(
    _ ending: ChildProcess.Ending, _ handler: Handler, place: String
  ) throws -> Bool {
    if !ending.isSuccess {
      guard !Interruption.isRequested else { return false }
      let sentence = "the command \(ending)\(place)"
      guard !handler.isOwed else {
        throw CommandError(
          .failed, code: "command", "\(sentence); the next run passes the change again.")
      }
      failureCount += 1
      try context.console.say(sentence)
    }
    return true
  }
}
