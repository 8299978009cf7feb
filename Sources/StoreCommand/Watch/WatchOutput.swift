import ModelStore

/// The lines of `watch`, until as many were written as were asked for.
struct WatchOutput {
  private let context: CommandContext
  private let countMax: Int
  private(set) var count = 0
  /// Whether the last changes were more than were wanted.
  private(set) var isCut = false

  /// - Throws: ``CommandError`` for a format that has an end or a heading.
  init(_ context: CommandContext, countMax: Int?) throws {
    switch context.options.format {
    case nil, .ndjson, .plain, .table: break
    case .json, .csv, .tsv:
      throw CommandError.usage("What watch writes has no end: use -o ndjson, plain or table.")
    }
    self.context = context
    self.countMax = countMax ?? .max
  }

  var isFull: Bool { count >= countMax }

  /// Whether so many are wanted and no more.
  var isCounting: Bool { countMax < .max }

  private var isForProgram: Bool {
    guard let format = context.options.format else {
      return !context.console.dataTerminal.isInteractive
    }
    return format == .ndjson
  }

  /// Writes changes, as many as are wanted, and hands them on at once.
  mutating func write(_ changes: some Sequence<WatchedChange>) throws {
    let terminal = context.console.dataTerminal
    for change in changes {
      guard !isFull else {
        isCut = true
        break
      }
      try context.console.writeLine(
        isForProgram
          ? JSONText.text(change.json)
          : change.text(palette: terminal.palette, width: terminal.width))
      count += 1
    }
    try context.console.finish()
  }
}
