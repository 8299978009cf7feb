import ModelStore
import RecordFormats

/// The changes of a write or of a dry run: one line for each record and origin.
struct ChangeReport {
  let lines: [ChangeLine]
  /// Whether the old values are left out because they cannot be read.
  private let isRepair: Bool
  /// How many records or rows the write was about.
  var count = 1
  var unit = Unit.records

  /// What a write counts. An SQL statement may write rows of tables that are no models.
  enum Unit { case records, rows }

  init(_ changes: ChangeSet, in schema: StoreSchema) {
    self.init([changes], in: schema)
  }

  /// The changes of several writes, one after the other.
  init(_ changes: [ChangeSet], in schema: StoreSchema) {
    lines = changes.flatMap { ChangeLine.lines(of: $0, in: schema) }
    isRepair = false
  }

  /// The changes that replaced unreadable values.
  init(repair line: ChangeLine) {
    lines = [line]
    isRepair = true
  }

  /// The number of lines shown on a terminal; a pipe or file gets all lines.
  static let lineCountMax = 40

  /// Writes the changes as data in the chosen format, and prints a summary as a message.
  func write(to context: CommandContext) throws {
    let console = context.console
    switch context.format {
    case .ndjson:
      for line in lines { try console.writeLine(try JSONText.text(line.json)) }
    case .json:
      for (index, line) in lines.enumerated() {
        try console.data.append((index == 0 ? "[\n" : ",\n") + (try JSONText.text(line.json)))
      }
      try console.writeLine(lines.isEmpty ? "[]" : "\n]")
    case .csv, .tsv, .yaml, .md, .sql: try writeRows(to: context)
    case .table, .plain: try writeText(to: console)
    }
    try console.finish()
    try summarize(to: console, isDryRun: context.isDryRun)
  }

  /// Prints what would be changed before a question: the first lines, then the counts.
  func preview(to console: Console) throws {
    let width = console.talkTerminal.width.map { max(20, $0 - 2) }
    try Confirmation.preview(count: lines.count, on: console) { place in
      lines[place].text(palette: Palette(isColoured: false), width: width)
    }
  }

  private func writeText(to console: Console) throws {
    let terminal = console.dataTerminal
    let shown = terminal.isInteractive ? lines.prefix(Self.lineCountMax) : lines[...]
    for line in shown {
      try console.writeLine(line.text(palette: terminal.palette, width: terminal.width))
    }
    if shown.count < lines.count {
      try console.say(
        "and \(Grouped.text(lines.count - shown.count, "more line")) (--ndjson shows all)")
    }
  }

  private func writeRows(to context: CommandContext) throws {
    var writer = try context.rowWriter(
      columns: ["op", "model", "id", "field", "old", "new", "origin"].map { OutputColumn($0) })
    for line in lines {
      for field in line.fields {
        try writer.write([
          .text(line.operation.rawValue), .text(line.model), .text(KeyText.text(line.key)),
          .text(field.name), CellValue(field.old ?? .null), CellValue(field.new ?? .null),
          .text(line.origin.description),
        ])
      }
    }
    try context.finish(writer)
  }

  private func summarize(to console: Console, isDryRun: Bool) throws {
    if isRepair {
      try console.say("the old values cannot be read, so they are not shown")
    } else if lines.isEmpty {
      try console.say(nothing)
    } else if lines.count > 1 {
      try console.say(summary)
    }
    if isDryRun { try console.say("dry run: nothing was written") }
  }

  /// Why there is no line.
  private var nothing: String {
    switch unit {
    case .records where count == 0: "no change: no record matched"
    case .records: "no change: the values were already the same"
    case .rows where count == 0: "no row was written"
    case .rows: "\(Grouped.text(count, "row")) written; no record of a model changed"
    }
  }

  /// The changes counted: `1 Artist deleted; by cascade 3 Album deleted`.
  var summary: String {
    var counts: [(text: String, records: Set<[SQLValue]>)] = []
    for line in lines {
      let cause =
        switch line.origin {
        case .user: ""
        case .binding(let name): "by binding \(name) "
        case .cascade: "by cascade "
        case .trigger(let name): "by trigger \(name) "
        case .foreign: "by another program "
        }
      let verb =
        switch line.operation {
        case .insert: "inserted"
        case .update: "updated"
        case .delete: "deleted"
        }
      let text = "\(cause)\u{0}\(line.model) \(verb)"
      if let index = counts.firstIndex(where: { $0.text == text }) {
        counts[index].records.insert(line.key)
      } else {
        counts.append((text, [line.key]))
      }
    }
    return counts.map { count in
      let parts = count.text.split(separator: "\u{0}", omittingEmptySubsequences: false)
      return "\(parts[0])\(Grouped.text(count.records.count)) \(parts[1])"
    }
    .joined(separator: "; ")
  }
}
