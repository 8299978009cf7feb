import ModelStore
import RecordFormats
import Synchronization

/// The result of a query as a table on a terminal, redrawn in place when it changes. It shows the
/// present state; ``LiveWatch`` reports the changes.
final class LiveTable: Sendable {
  private struct Shown {
    var records: [DynamicRecord] = []
    var total = 0
    /// Whether another program changed fields without an event, so the records must be refetched.
    var isStale = false
    var changeCount = 0
  }

  private let store: Store
  private let bell: Bell
  private let columns: FieldColumns
  private let shown = Mutex(Shown())

  init(of store: Store, _ bell: Bell, columns: FieldColumns) {
    self.store = store
    self.bell = bell
    self.columns = columns
  }

  /// Shows `query` until there is a reason to end; nil after that many changes.
  ///
  /// - Returns: The reason and the number of changes.
  func follow(
    _ query: StoreQuery<DynamicRecord>, countMax: Int, until deadline: ContinuousClock.Instant?,
    on console: Console
  ) throws -> (waking: Bell.Waking?, changeCount: Int) {
    let height = console.dataTerminal.height ?? Self.usualHeight
    // The heading, the line below and the cursor's line take one each.
    let query = query.limit(min(query.limit ?? .max, max(height - 3, 1)), offset: query.offset)
    let live = try store.liveQuery(query)
    if !live.keepsOnlyItsWindow { try console.say(Self.readsAll) }
    let subscription = try live.observe(options: .initial, coalescing: .latest) { [self] changes in
      take(changes)
    }
    defer { subscription.cancel() }
    var lineCount = 0
    var changeCount = 0
    while true {
      // The present records are shown first, even with a short timeout.
      let waking = try bell.wait(until: lineCount == 0 ? nil : deadline)
      guard waking == .rung else { return (waking, changeCount) }
      try store.checkUnchanged([query.schema])
      var now = shown.withLock { $0 }
      if now.isStale { now.records = try store.fetch(query) }
      lineCount = try draw(now, of: query.schema, over: lineCount, height: height, on: console)
      changeCount = now.changeCount
      if changeCount >= countMax { return (nil, changeCount) }
    }
  }

  private static let usualHeight = 24

  /// The message about a window that costs as much as the whole result.
  static var readsAll: String {
    "all records are read first: no index leads along the order of the window "
      + "(see \(Program.name) watch --help)"
  }

  private func take(_ changes: QueryChanges<DynamicRecord>) {
    shown.withLock { shown in
      changes.apply(to: &shown.records)
      shown.total = changes.new.totalCount ?? changes.newCount
      guard !changes.isInitial else { return }
      if changes.isReset { shown.isStale = true }
      shown.changeCount +=
        changes.deletions.count + changes.insertions.count + changes.updates.count
        + changes.moves.count
    }
    bell.ring()
  }

  /// - Returns: How many lines it takes.
  private func draw(
    _ shown: Shown, of schema: ModelSchema, over lineCount: Int, height: Int, on console: Console
  ) throws -> Int {
    var drawn: [UInt8] = []
    let sink = ByteSink { bytes in
      drawn.append(contentsOf: bytes)
      return bytes.count
    }
    var table = Table(
      columns: columns.columns, sink: sink, terminal: console.dataTerminal,
      recordName: schema.name)
    for record in shown.records { try table.write(columns.row(of: record.values)) }
    try table.finish()
    let lines = String(decoding: drawn, as: UTF8.self).split(separator: "\n")
      .prefix(max(height - 2, 1))
    let end =
      "\(Grouped.text(shown.records.count)) of \(Grouped.text(shown.total))   "
      + "\(TimeText.clock(TimeText.now))   \(Grouped.text(shown.changeCount, "change"))"
    if lineCount > 0 { try console.data.append("\u{1B}[\(lineCount)F") }
    for line in lines + [Substring(console.dataTerminal.palette.dressed(end, as: .hint))] {
      try console.data.append("\(line)\u{1B}[K\n")
    }
    // Clears the lines of a longer table before.
    try console.data.append("\u{1B}[J")
    try console.finish()
    return lines.count + 1
  }
}
